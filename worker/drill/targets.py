"""Whom a fault can hit: found from outside, by /proc and by the workers' rows in the database.

The rows are read by a thread that remembers them, so that a fault finds its target, and at once,
also while the database is away.
"""

from __future__ import annotations

import threading
from contextlib import closing, suppress
from pathlib import Path

from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.errors import DatabaseUnavailable
from worker.system.process_tree import ProcessId, descendants, find_browsers, find_driver

LOOK_SECONDS = 0.25


class Register:
    """Every process that was ever registered as a worker; a process is named for good."""

    def __init__(self, database: DatabaseSettings) -> None:
        self._database = database
        self._seen: set[ProcessId] = set()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="register", daemon=True)
        self._thread.start()

    def workers(self, launcher: int) -> list[ProcessId]:
        """List the launcher's children that are registered as workers."""
        return [child for child in _children(launcher) if child in self._seen]

    def heart(self, launcher: int) -> ProcessId | None:
        """Find the launcher's one child that is not a worker; None while that is unclear.

        A worker that boots is not registered yet, so with two candidates it is unclear.
        """
        children = _children(launcher)
        others = [child for child in children if child not in self._seen]
        return others[0] if len(others) == 1 and len(children) > 1 else None

    def close(self) -> None:
        """Stop looking."""
        self._is_closed.set()
        self._thread.join()

    def _watch(self) -> None:
        with closing(Database(self._database, read_timeout_seconds=2.0)) as db:
            while not self._is_closed.wait(LOOK_SECONDS):
                try:
                    rows = db.fetch_all("drill_workers")
                except DatabaseUnavailable:
                    continue
                self._seen.update(ProcessId(row["pid"], row["pid_started"]) for row in rows)


def driver(worker: ProcessId) -> ProcessId | None:
    """Find a worker's Playwright driver."""
    return find_driver(worker.pid)


def browser(worker: ProcessId) -> ProcessId | None:
    """Find the leader of the process group of a worker's Chromium."""
    found = find_driver(worker.pid)
    leaders = find_browsers(found) if found is not None else []
    return leaders[-1] if leaders else None


def renderers(worker: ProcessId) -> list[ProcessId]:
    """List the processes of a worker's Chromium that draw its pages."""
    leader = browser(worker)
    found = [stat.id for stat in descendants(leader.pid)] if leader is not None else []
    return [process for process in found if b"--type=renderer" in _command_line(process.pid)]


def _command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _children(launcher: int) -> list[ProcessId]:
    return [stat.id for stat in descendants(launcher) if stat.parent == launcher]
