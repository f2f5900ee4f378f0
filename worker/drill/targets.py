"""Whom a fault can hit: found from outside, by /proc and by the workers' rows in the database."""

from __future__ import annotations

from contextlib import closing

from worker.browser.process_tree import ProcessId, descendants, find_browsers, find_driver
from worker.database import Database
from worker.errors import DatabaseUnavailable
from worker.settings import DatabaseSettings


def workers(launcher: int, database: DatabaseSettings) -> list[ProcessId]:
    """List the launcher's children that are registered as workers; none while it cannot ask."""
    registered = _registered(database)
    return [child for child in _children(launcher) if child in registered]


def heart(launcher: int, database: DatabaseSettings) -> ProcessId | None:
    """Find the launcher's one child that is no worker; None while that cannot be told.

    A worker that boots is not registered yet: with two candidates there is no telling.
    """
    registered = _registered(database)
    others = [child for child in _children(launcher) if child not in registered]
    return others[0] if registered and len(others) == 1 else None


def driver(worker: ProcessId) -> ProcessId | None:
    """Find a worker's Playwright driver."""
    return find_driver(worker.pid)


def browser(worker: ProcessId) -> ProcessId | None:
    """Find the leader of the process group of a worker's Chromium."""
    found = find_driver(worker.pid)
    leaders = find_browsers(found) if found is not None else []
    return leaders[-1] if leaders else None


def _children(launcher: int) -> list[ProcessId]:
    return [stat.id for stat in descendants(launcher) if stat.parent == launcher]


def _registered(database: DatabaseSettings) -> set[ProcessId]:
    try:
        with closing(Database(database)) as db:
            rows = db.fetch_all("drill_workers")
    except DatabaseUnavailable:
        return set()
    return {ProcessId(row["pid"], row["pid_started"]) for row in rows}
