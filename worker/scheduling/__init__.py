"""Schedules: rules in the database that add jobs at given times, each time once."""
