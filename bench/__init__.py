"""Measurements against the limit of the database, and a count of jobs outside the queue."""
