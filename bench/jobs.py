"""The rows both sides work on: the same ids and the same kind of rows, fresh for every round.

They are made once, in a table of their own, and copied into an emptied queue before each round.
"""

from __future__ import annotations

from dataclasses import dataclass

from worker.database.client import Database

SLOTS = 6
FILL_AT_ONCE = 5000

_INSERT = "INSERT INTO bench_jobs (id, task, payload) VALUES "


@dataclass(frozen=True, slots=True)
class Jobs:
    """So many jobs for each working slot, behind a backlog that belongs to slot 0."""

    slots: range
    per_slot: int
    backlog: int

    @property
    def total(self) -> int:
        """How many jobs are done in a round."""
        return self.per_slot * len(self.slots)

    def ids(self, slot: int) -> range:
        """The ids of one working slot, all behind the backlog."""
        first = SLOTS * (self.backlog + 1) + slot
        return range(first, first + SLOTS * self.per_slot, SLOTS)

    def store(self, db: Database) -> None:
        """Make the rows, aside."""
        db.run_statement("DROP TABLE IF EXISTS bench_jobs")
        db.run_statement("CREATE TABLE bench_jobs LIKE work_queue")
        ids = [SLOTS * number for number in range(1, self.backlog + 1)]
        ids += sorted(each for slot in self.slots for each in self.ids(slot))
        for start in range(0, len(ids), FILL_AT_ONCE):
            rows = (
                f"""({job_id}, 'noop', '{{"url": "https://example.com/{job_id}"}}')"""
                for job_id in ids[start : start + FILL_AT_ONCE]
            )
            db.run_statement(_INSERT + ", ".join(rows))

    def lay_out(self, db: Database) -> None:
        """Empty the queue and its history, and put the rows in."""
        db.run_statement("TRUNCATE work_queue")
        db.run_statement("TRUNCATE job_attempts")
        # Named columns, because others are generated.
        db.run_statement(
            "INSERT INTO work_queue (id, task, payload) SELECT id, task, payload FROM bench_jobs"
        )


def count_done(db: Database) -> int:
    """Count the finished jobs."""
    row = db.run_statement("SELECT COUNT(*) AS jobs FROM work_queue WHERE status = 'done'")[0]
    return int(row["jobs"])
