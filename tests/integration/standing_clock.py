"""A clock for workers that moves only when a test lets it: what it finds can be repeated."""

from __future__ import annotations

from worker.database.client import Database

MOMENTS = (0.4, 1.1, 11.0)


class Clock:
    """Stands in for the module `time` where workers ask how old what they have read is."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def empty(db: Database, tables: tuple[str, ...]) -> None:
    """Empty tables and begin with job 1 again: which slot a job belongs to goes by its number."""
    for table in tables:
        db.run_statement(f"DELETE FROM {table}")
    db.run_statement("ALTER TABLE work_queue AUTO_INCREMENT = 1")
