"""Which jobs are a run's own: those of its queues whose tasks it has loaded.

Others stay pending for a run that knows them. No index tells them apart, so searches leave them out
by a condition, and only where a worker has met one: a queue without them costs nothing more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from worker.database.client import Database
from worker.guards.keys import ClosedKey, keys_of
from worker.installation import command_line
from worker.models import Candidate
from worker.queue import runs
from worker.queue_names import queue_problem
from worker.recovery import live_runs
from worker.recovery.live_runs import RunState
from worker.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Scope:
    """The queues that a run works and the tasks that it has loaded; None is any.

    Of its tasks, those `without_browser` need no proxy.
    """

    queues: tuple[str, ...] | None = None
    tasks: frozenset[str] | None = None
    without_browser: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, settings: RunSettings, tasks: Iterable[str], without_browser: Iterable[str] = ()
    ) -> Scope:
        """The scope that a run's settings want, with the tasks that it has loaded."""
        takes_any = settings.unknown_tasks == "fail"
        known = None if takes_any else frozenset(tasks)
        return cls(settings.queues, known, frozenset(without_browser))

    @property
    def is_limited(self) -> bool:
        """Whether there may be jobs that it leaves to others."""
        return self.queues is not None or self.tasks is not None

    @property
    def whole(self) -> Scope:
        """The same with jobs of any queue and task."""
        return Scope(without_browser=self.without_browser)

    def keys_of(self, candidate: Candidate) -> tuple[str, ...]:
        """Name every key that a job belongs to."""
        return keys_of(candidate, has_page=candidate.task not in self.without_browser)

    def takes(self, candidate: Candidate) -> bool:
        """Whether a job is the run's to do."""
        return (self.tasks is None or candidate.task in self.tasks) and (
            self.queues is None or candidate.queue in self.queues
        )

    def conditions(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Name the conditions that leave all other jobs out, with their parameters."""
        names, params = self.queue_conditions()
        if self.tasks is not None:
            names, params = (*names, "of_known_tasks"), params | {"known_tasks": tuple(self.tasks)}
        return names, params

    def queue_conditions(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Name the condition that leaves out jobs of other queues, with its parameter."""
        if self.queues is None:
            return (), {}
        return ("of_own_queues",), {"own_queues": self.queues}

    def choices(self) -> dict[str, Any]:
        """Give both as parameters of queries that ask for them in any case."""
        return {
            "any_queue": self.queues is None,
            "own_queues": self.queues or ("",),
            "any_task": self.tasks is None,
            "known_tasks": tuple(self.tasks or ("",)),
        }

    def unknown(self, candidate: Candidate) -> ClosedKey | None:
        """Say why a job of its queues stays, if that is because the run does not know its task."""
        if self.tasks is None or candidate.task in self.tasks:
            return None
        return ClosedKey(
            f"task:{candidate.task}",
            f"no task named {candidate.task!r} is loaded; load its file with --tasks FILE",
        )


def of_run(db: Database, run_id: int) -> Scope:
    """Read the scope of a run that has been recorded."""
    row = db.fetch_one("scope_of_run", run_id=run_id)
    if row is None:
        return Scope()
    tasks = None if row["tasks"] is None else frozenset(json.loads(row["tasks"]))
    pulse = json.loads(row["pulse"]) if row["pulse"] else {}
    return Scope(tuple(row["queues"].split(",")), tasks, _without_browser(pulse))


def of_live_runs(
    db: Database, alive: Sequence[RunState] | None = None
) -> list[tuple[RunState, Scope]]:
    """List the runs at work, each with what it does; `alive` are they, where they are known."""
    return [
        (run, Scope(run.queues, run.tasks, _without_browser(run.pulse)))
        for run in (live_runs.alive(db) if alive is None else alive)
    ]


def of_onlookers(db: Database, told: Sequence[RunState] | None = None) -> Scope:
    """The scope of those who look on and have loaded no tasks: any job.

    Which tasks need no browser is known from the runs at work, or else from the latest one: `told`.
    """
    if told is None:
        told = live_runs.alive(db) or live_runs.newest(db, 1)
    return Scope(without_browser=frozenset().union(*(_without_browser(run.pulse) for run in told)))


def _without_browser(pulse: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(pulse.get(runs.WITHOUT_BROWSER, ()))


def absence(live: Sequence[Scope], candidate: Candidate) -> ClosedKey | None:
    """Say why none of the runs at work would take a job, if that is so."""
    if not live or any(scope.takes(candidate) for scope in live):
        return None
    named = [scope for scope in live if scope.queues is None or candidate.queue in scope.queues]
    if not named and (problem := queue_problem(candidate.queue)):
        # No flag could name it, so no run could be started for it.
        return ClosedKey(
            f"queue:{candidate.queue}",
            f"no run can have the queue {candidate.queue!r}: {problem}; give its jobs another: "
            f"UPDATE work_queue SET queue = 'default' WHERE queue = …",
        )
    if not named:
        return ClosedKey(
            f"queue:{candidate.queue}",
            f"no run at work has the queue {candidate.queue!r}; "
            f"start one: {command_line('--queue', candidate.queue)}",
        )
    return ClosedKey(
        f"task:{candidate.task}",
        f"no run at work has loaded a task named {candidate.task!r}; "
        f"start one with its file: launcher.py --tasks FILE",
    )
