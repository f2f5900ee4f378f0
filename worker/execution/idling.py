"""How long a worker without work waits before it looks again.

Whichever of many idle workers looks next finds a new job, so each may wait longer: five hundred do
not ask the server fifty times as often as ten.
"""

from __future__ import annotations

MIN_SECONDS = 0.05
MAX_SECONDS = 0.5
# This many workers that each look every `MAX_SECONDS` look often enough for all.
ENOUGH_WORKERS = 12
# How long it may take at the worst until all of a large pool are at work.
LONGEST_SECONDS = 5.0


def next_wait(last_seconds: float, most_seconds: float) -> float:
    """Wait twice as long as the last time, up to a limit."""
    return min(max(2 * last_seconds, MIN_SECONDS), most_seconds)


def most_wait(idle_workers: float) -> float:
    """Say how long each of `idle_workers` that help each other may wait."""
    return min(max(1.0, idle_workers / ENOUGH_WORKERS) * MAX_SECONDS, LONGEST_SECONDS)
