"""What each worker of a live or dead run is at, as the heart of its run last told it.

What a dead one was at is what the database says: its heart's last word may be older than its claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from worker.dashboard.facts import Facts
from worker.database.client import Database, Row
from worker.models import Status
from worker.queue.claims import Queue
from worker.recovery.live_runs import Life, RunState
from worker.recovery.sweep import sweep
from worker.reporting.events import Event, Kind

# What a worker records that ends by itself.
FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class WorkerNow:
    """One slot of a live or dead run, and what it is at."""

    run_id: int
    slot: int
    host: str
    phase: str
    job_id: int | None
    job_seconds: float | None
    step: str
    restarts: int
    is_dead: bool = False
    job: Row | None = None
    incarnation: int = 0
    memory_mb: float | None = None
    # How long its job may take: by the job, its task or the run.
    limit_seconds: float | None = None
    # How this life ended, and how the one before it did; empty where there is no such end.
    ending: str = ""
    last_ending: str = ""
    # The browser elsewhere that it uses, and where that can be watched; empty for one of its own.
    browser: str = ""
    live_view: str = ""
    # What becomes of the job that a dead one holds.
    fate: str = ""

    @property
    def has_finished(self) -> bool:
        """Whether it has gone home, because there was nothing left for it."""
        return self.ending == FINISHED

    @property
    def is_up(self) -> bool:
        """Whether it is there, at a job or waiting for one."""
        return not self.is_dead and not self.ending and self.phase not in ("none", "booting")

    @property
    def has_been_up(self) -> bool:
        """Whether it or an earlier life of its slot has come so far, or has ended on the way."""
        return self.is_up or bool(self.ending or self.last_ending)

    @property
    def is_slow(self) -> bool:
        """Whether its job has used up most of its time."""
        limit, took = self.limit_seconds, self.job_seconds
        return limit is not None and took is not None and took > 0.7 * limit


def workers_of(db: Database, facts: Facts, runs: Sequence[RunState]) -> list[WorkerNow]:
    """List the workers of some runs."""
    lives = _lives(facts)
    shown = [
        (run, told.get("slot", run.first_slot + place), told)
        for run in runs
        for place, told in enumerate(run.pulse.get("workers", ()))
    ]
    ids = tuple(told["job_id"] for _, _, told in shown if told.get("job_id") is not None)
    jobs = {row["id"]: row for row in db.fetch_all("jobs_at_work", ids=ids)} if ids else {}
    found = [
        _worker(run, slot, told, lives.get((run.run_id, slot), ()), jobs)
        for run, slot, told in shown
    ]
    if not any(map(_is_over, found)):
        return found
    claims = _claims(db, tuple({worker.run_id for worker in found if _is_over(worker)}))
    return [
        _as_claimed(worker, claims.get((worker.run_id, worker.slot)))
        if _is_over(worker)
        else worker
        for worker in found
    ]


def _is_over(worker: WorkerNow) -> bool:
    return worker.is_dead or bool(worker.ending)


def _claims(db: Database, run_ids: tuple[int, ...]) -> dict[tuple[int, int], Row]:
    """Find what the workers of some runs hold, each with what a sweep would make of it."""
    rows = db.fetch_all("claims_of_runs", run_ids=run_ids)
    swept = sweep(db, Queue(db), dry_run=True) if rows else []
    ended = {item.job_id: item.reason for item in swept if item.status is Status.ERROR}
    return {
        (row["run_id"], row["slot"]): row | {"ended_because": ended.get(row["id"])} for row in rows
    }


def _as_claimed(worker: WorkerNow, claim: Row | None) -> WorkerNow:
    """Tell of a dead worker what it holds by the database."""
    if claim is None:
        return replace(worker, job_id=None, job_seconds=None, step="", job=None)
    is_told = worker.job_id == claim["id"]
    irreversible = claim["irreversible_step"]
    step = worker.step if is_told else ""
    return replace(
        worker,
        job_id=claim["id"],
        job=claim,
        job_seconds=worker.job_seconds if is_told else None,
        step=step if irreversible is None else irreversible,
        fate=_fate(claim),
    )


def _fate(claim: Row) -> str:
    if claim["irreversible_step"] is not None:
        return (
            "that step is irreversible: the job may be half done, and does not come back by itself"
        )
    if claim["ended_because"]:
        return f"the job will be ended as failed: {claim['ended_because']}"
    return "the job comes back by itself"


def _worker(
    run: RunState, slot: int, told: dict[str, Any], lives: Sequence[Event], jobs: dict[int, Row]
) -> WorkerNow:
    incarnation = int(told.get("incarnation") or 0)
    before = [life for life in lives if life.detail.get("incarnation") != incarnation]
    own = [life for life in lives if life not in before]
    job = jobs.get(told.get("job_id") or 0)
    # A launcher of an older version tells no limit.
    limit = told.get("limit_seconds") or (job["timeout_seconds"] if job else None)
    return WorkerNow(
        run.run_id, slot, run.host, told["phase"], told.get("job_id"),
        _age(run, told.get("job_seconds")), told.get("step") or "",
        restarts=max(0, len(lives) - 1),
        is_dead=run.life is not Life.ALIVE, job=job,
        incarnation=incarnation, memory_mb=told.get("memory_mb"), limit_seconds=limit,
        ending=(own[-1].why or "ended") if own and own[-1].ended_at is not None else "",
        last_ending=before[-1].why if before else "",
        browser=told.get("browser") or "", live_view=told.get("live_view") or "",
    )  # fmt: skip


def _lives(facts: Facts) -> dict[tuple[int | None, int | None], list[Event]]:
    found: dict[tuple[int | None, int | None], list[Event]] = {}
    for event in facts.events:
        if event.kind is Kind.WORKER:
            found.setdefault((event.run_id, event.slot), []).append(event)
    return found


def _age(run: RunState, seconds: float | None) -> float | None:
    """Add what has passed since the heart told it."""
    return None if seconds is None else seconds + max(run.silent_seconds, 0.0)
