"""Browsers elsewhere: found, connected to, left alone while they fail, and let go again."""
