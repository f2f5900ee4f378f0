"""The audit of a run: the ledger and the queue must tell the same story, job by job.

A task may run again when its worker was killed under it, and only then: execution is at least
once, finishing exactly once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from worker.database.client import Database
from worker.drill import finish_ledger


@dataclass(frozen=True, slots=True)
class Audit:
    """How many jobs there were, and which of them went wrong in which way."""

    jobs: int
    done: int
    lost: list[int]
    finished_twice: list[int]
    executed_again: list[int]
    without_excuse: list[int]
    crashed_attempts: int

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.finished_twice or self.without_excuse)

    def render(self) -> str:
        """Say it, a fact a line."""
        return "\n".join(
            (
                f"jobs in             {self.jobs:>7,}",
                f"done                {self.done:>7,}",
                f"lost                {_listed(self.lost)}",
                f"finished twice      {_listed(self.finished_twice)}",
                f"executed again      {_listed(self.executed_again)}",
                f"  without an excuse {_listed(self.without_excuse)}",
                f"crashed attempts    {self.crashed_attempts:>7,}",
            )
        )


def count_ends(ledger: Path) -> int:
    """Count the executions that came to their end."""
    return ledger.read_bytes().count(b"end ") if ledger.exists() else 0


def audit(db: Database, ledger: Path, killed: AbstractSet[int]) -> Audit:
    """Compare the ledger with the queue; `killed` are the incarnations that died of SIGKILL."""
    starts, ends = _read(ledger)
    jobs = {
        row["id"]: row["status"] for row in db.run_statement("SELECT id, status FROM work_queue")
    }
    attempts = db.run_statement("SELECT job_id, outcome, incarnation FROM job_attempts")
    finishes = finish_ledger.finishes(db)
    excuses = Counter(
        row["job_id"]
        for row in attempts
        if row["outcome"] == "crashed" and row["incarnation"] in killed
    )
    return Audit(
        jobs=len(jobs),
        done=sum(status == "done" for status in jobs.values()),
        lost=[
            job
            for job, status in jobs.items()
            if status != "done" or not finishes[job] or not ends[job]
        ],
        finished_twice=[job for job, times in finishes.items() if times > 1],
        executed_again=[job for job, times in starts.items() if times > 1],
        without_excuse=[job for job, times in starts.items() if times > 1 + excuses[job]],
        crashed_attempts=sum(row["outcome"] == "crashed" for row in attempts),
    )


def _read(ledger: Path) -> tuple[Counter[int], Counter[int]]:
    counts: dict[str, Counter[int]] = {"start": Counter(), "end": Counter()}
    for line in ledger.read_text(encoding="ascii").splitlines():
        event, job_id, _ = line.split()
        counts[event][int(job_id)] += 1
    return counts["start"], counts["end"]


def _listed(jobs: list[int]) -> str:
    named = f"  (jobs {', '.join(map(str, jobs[:10]))}{', …' if len(jobs) > 10 else ''})"
    return f"{len(jobs):>7,}{named if jobs else ''}"
