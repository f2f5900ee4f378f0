"""How everything stands now: the queue, what is at work, what is held back and why, and the rest.

For `status` and `watch`: it counts the queue, which takes a while where there are millions of jobs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from worker.claiming import held_back
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.held_back import HeldBack
from worker.database.client import Database, Row
from worker.guards.keys import ClosedKey
from worker.profiles import checkouts, store
from worker.queue import batches, pause, runs
from worker.queue.claims import Queue
from worker.recovery import live_runs
from worker.recovery.live_runs import Life, RunState
from worker.recovery.sweep import sweep
from worker.reporting import outlook, queues
from worker.reporting.outlook import Outlook
from worker.reporting.queues import QueueCount
from worker.scheduling import schedules

HELD_BACK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Standing:
    """The queue and the runs as they stand."""

    jobs: dict[str, int]
    waiting: int
    next_due_seconds: float
    in_progress: list[Row]
    runs: list[RunState]
    # Jobs per second of each run, by its number.
    rates: dict[int, float]
    held_back: list[HeldBack]
    closed: list[ClosedKey]
    paused: Row | None
    latest_run: Row | None
    profiles: dict[str, int]
    accounts_paused: int
    checkouts_overdue: int
    # Empty where all jobs are in the default queue.
    queues: list[QueueCount] = field(default_factory=list)
    # The open batches, and those that ended within a day.
    batches: list[Row] = field(default_factory=list)
    schedules: list[Row] = field(default_factory=list)
    # How many of the jobs other jobs have added.
    follow_ups: int = 0

    @property
    def alive(self) -> list[RunState]:
        """The runs that are at work."""
        return [run for run in self.runs if run.life is Life.ALIVE]

    @property
    def told(self) -> list[RunState]:
        """The runs that matter now: the dead only while a sweep has something to put right."""
        holding = {row["run_id"] for row in self.in_progress}
        return [run for run in self.runs if run.life is not Life.GONE or run.run_id in holding]

    @property
    def held(self) -> int:
        """How many jobs are held back."""
        return sum(item.jobs for item in self.held_back)

    @property
    def outlook(self) -> Outlook:
        """How fast it goes, and how long the rest takes."""
        return Outlook(
            per_second=sum(self.rates.get(run.run_id, 0.0) for run in self.alive),
            per_second_of_run=self.rates,
            pending=self.jobs["pending"],
            in_progress=self.jobs["in_progress"],
            waiting=self.waiting,
            held_back=self.held,
        )

    def as_json(self) -> dict[str, Any]:
        """Give all of it, for programs."""
        return {
            "jobs": self.jobs,
            "waiting": {"jobs": self.waiting, "next_due_seconds": self.next_due_seconds},
            "in_progress": self.in_progress,
            "runs": [
                run.as_json() | {"per_second": self.rates.get(run.run_id, 0.0)} for run in self.runs
            ],
            "per_second": self.outlook.per_second,
            "to_go": self.outlook.to_go,
            "eta_seconds": self.outlook.eta_seconds if self.alive else None,
            "held_back": [item.as_json() for item in self.held_back],
            "closed": [asdict(closure) for closure in self.closed],
            "paused": self.paused,
            "latest_run": self.latest_run,
            "profiles": self.profiles,
            "accounts_paused": self.accounts_paused,
            "checkouts_overdue": self.checkouts_overdue,
            "queues": [asdict(item) for item in self.queues],
            "batches": self.batches,
            "schedules": self.schedules,
            "follow_ups": self.follow_ups,
        }


def standing(db: Database) -> Standing:
    """Look at everything, without changing anything."""
    closures = ClosedKeys(db)
    closures.refresh()
    profiles, accounts_paused = store.counts(db)
    waiting = db.fetch_all("waiting_jobs")[0]
    return Standing(
        jobs=Queue(db).counts(),
        waiting=int(waiting["jobs"]),
        next_due_seconds=float(waiting["next_due_seconds"]),
        in_progress=_in_progress(db),
        runs=worth_telling(live_runs.unended(db)),
        rates=outlook.rates(db),
        held_back=held_back.count(db, seconds=HELD_BACK_SECONDS),
        closed=list(closures.closed.values()),
        paused=pause.paused(db),
        latest_run=runs.latest(db),
        profiles=profiles,
        accounts_paused=accounts_paused,
        checkouts_overdue=checkouts.count_overdue(db),
        queues=queues.count(db),
        batches=_batches(db),
        schedules=schedules.everything(db),
        follow_ups=int(db.fetch_all("jobs_added_by_jobs")[0]["jobs"]),
    )


def worth_telling(unended: list[RunState]) -> list[RunState]:
    """Leave out the dead whose place on their host another run has taken."""
    return [
        run
        for run in unended
        if run.life is not Life.GONE
        or not any(other.run_id > run.run_id and other.host == run.host for other in unended)
    ]


def _batches(db: Database) -> list[Row]:
    return [
        {**row, "so_far": None if row["finished_at"] else batches.progress(db, row["name"])}
        for row in batches.recent(db)
    ]


def _in_progress(db: Database) -> list[Row]:
    """List what is at work; `gone` says of what has no owner any more why a sweep would take it.

    `becomes` says what the sweep would make of it: `pending`, or `error` if it may be half done or
    has no try left.
    """
    swept = {item.job_id: item for item in sweep(db, Queue(db), dry_run=True)}
    rows = []
    for row in db.fetch_all("jobs_in_progress"):
        item = swept.get(row["id"])
        told = (None, None) if item is None else (item.reason, item.status.value)
        rows.append({**row, "gone": told[0], "becomes": told[1]})
    return rows
