"""Decide which profile is safe to use now: profiles, their states, leases and events."""
