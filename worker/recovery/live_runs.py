"""Which runs are at work, and which are dead: judged as the sweep judges the owners of claims."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from worker.database.client import Database, Row
from worker.exit_codes import ExitCode
from worker.models import DEFAULT_QUEUE
from worker.recovery.dead_owners import MIN_SILENT_SECONDS, is_gone
from worker.slot_numbers import slots_in, slots_text

# A run that has not beaten for a day is history.
RECENT_SECONDS = 86_400
LIMIT = 100


class Life(StrEnum):
    """How a run stands."""

    ALIVE = "alive"
    # Its last beats are missing, and nobody here can look at its process.
    SILENT = "silent"
    # Its launcher is dead, without having recorded its end.
    GONE = "gone"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class RunState:
    """A run as its row tells of it, and whether it lives."""

    run_id: int
    host: str
    pid: int
    first_slot: int
    workers: int
    total: int
    started_at: datetime
    heartbeat_at: datetime
    ended_at: datetime | None
    silent_seconds: float
    life: Life
    summary: dict[str, Any] | None = None
    # As `0-2,5`, where it shares slots with other hosts; None: from the first one on.
    shared_slots: str | None = None
    # Which jobs it does: of these queues and, unless it takes any, of these tasks.
    queues: tuple[str, ...] = (DEFAULT_QUEUE,)
    tasks: frozenset[str] | None = None
    # What its heart last knew; empty before its first beat.
    pulse: dict[str, Any] = field(default_factory=dict)

    @property
    def over_at(self) -> datetime | None:
        """When it ended: as it recorded, or else with its last heartbeat; None while it may live.

        A silent run may only be cut off from the database.
        """
        return self.heartbeat_at if self.life is Life.GONE else self.ended_at

    @property
    def claims_until(self) -> datetime | None:
        """When it claims no more by `--until` or `--max-runtime`, to the minute; None: no limit."""
        seconds = self.pulse.get("claims_for")
        if seconds is None:
            return None
        end: datetime = self.heartbeat_at + timedelta(seconds=seconds + 30)
        return end.replace(second=0, microsecond=0)

    @property
    def slots(self) -> tuple[int, ...]:
        """The slots that it has, or had last."""
        if self.shared_slots is None:
            return tuple(range(self.first_slot, self.first_slot + self.workers))
        return slots_in(self.shared_slots)

    @property
    def slot_names(self) -> str:
        """Its slots, as people write them: `0–2,5`."""
        return slots_text(self.slots).replace("-", "–") or "none yet"

    @property
    def has_ended_well(self) -> bool:
        """Whether it came to its end, and did not end as `--fail-over` calls bad."""
        return self.life is Life.ENDED and ended_well(self.summary or {})

    @property
    def ending(self) -> str:
        """How it ended, in a few words; empty while it may live."""
        if self.ended_at is None:
            return "killed" if self.life is Life.GONE else ""
        return ending_of(self.summary or {})

    def as_json(self) -> dict[str, Any]:
        """Give it, for programs."""
        return {
            "run": self.run_id,
            "host": self.host,
            "pid": self.pid,
            "slots": list(self.slots),
            "total": self.total,
            "started_at": self.started_at,
            "heartbeat_at": self.heartbeat_at,
            "over_at": self.over_at,
            "life": self.life.value,
            "claims_until": self.claims_until,
            "ending": self.ending or None,
            "exit_code": (self.summary or {}).get("exit_code"),
            "queues": list(self.queues),
            "tasks": None if self.tasks is None else sorted(self.tasks),
            "pulse": self.pulse,
        }


def unended(db: Database) -> list[RunState]:
    """List the runs of the last day that have not recorded an end, the newest first."""
    rows = db.fetch_all("unended_runs", seconds=RECENT_SECONDS, limit=LIMIT)
    return [state_of(row) for row in rows]


def alive(db: Database) -> list[RunState]:
    """List the runs that are at work now, the newest first."""
    return [run for run in unended(db) if run.life is Life.ALIVE]


def newest(db: Database, limit: int, before: int | None = None) -> list[RunState]:
    """List runs by number, the newest first; `before` continues behind that number."""
    rows = db.fetch_all("newest_runs", limit=limit, before=before)
    return [state_of(row) for row in rows]


def hosts_of(db: Database, incarnations: Iterable[int | None]) -> dict[int, str]:
    """Tell on which host workers were, by their incarnation."""
    ids = tuple({each for each in incarnations if each is not None})
    rows = db.fetch_all("hosts_of_workers", ids=ids) if ids else []
    return {row["id"]: row["host"] for row in rows}


def runs_of(db: Database, incarnations: Iterable[int]) -> dict[int, int]:
    """Tell of which run workers were, by their incarnation."""
    ids = tuple(set(incarnations))
    rows = db.fetch_all("runs_of_workers", ids=ids) if ids else []
    return {row["id"]: row["run_id"] for row in rows}


def state_of(row: Row) -> RunState:
    """Judge a run by its row."""
    return RunState(
        run_id=row["id"],
        host=row["host"],
        pid=row["pid"],
        first_slot=row["first_slot"],
        workers=row["workers"],
        total=row["total"],
        shared_slots=row["slots"],
        started_at=row["started_at"],
        heartbeat_at=row["heartbeat_at"],
        ended_at=row["ended_at"],
        silent_seconds=float(row["silent_seconds"]),
        life=_life(row),
        summary=json.loads(row["summary"]) if row["summary"] else None,
        queues=tuple(row["queues"].split(",")),
        tasks=frozenset(json.loads(row["tasks"])) if row["tasks"] else None,
        pulse=json.loads(row["pulse"]) if row["pulse"] else {},
    )


def ended_well(summary: dict[str, Any]) -> bool:
    """Whether a run came to its end without too many failures; jobs may be held back."""
    return summary.get("exit_code") in (None, ExitCode.OK, ExitCode.HELD_BACK)


def ending_of(summary: dict[str, Any]) -> str:
    """Say in a few words how a run ended, from what it recorded."""
    if summary.get("exit_code") == ExitCode.TOO_MANY_FAILED:
        return f"{_how_it_ended(summary)}, with too many failures"
    return _how_it_ended(summary)


def _how_it_ended(summary: dict[str, Any]) -> str:
    if summary.get("stopped_by"):
        return f"stopped ({summary['stopped_by']})"
    workers = summary.get("workers") or []
    if workers and all(worker.get("given_up") for worker in workers):
        return "gave up"
    if held_back := summary.get("held_back"):
        jobs = sum(item["jobs"] for item in held_back)
        return f"ended with {jobs:,} held back"
    return "drained"


def _life(row: Row) -> Life:
    if row["ended_at"] is not None:
        return Life.ENDED
    if is_gone(row):
        return Life.GONE
    return Life.SILENT if float(row["silent_seconds"]) > MIN_SILENT_SECONDS else Life.ALIVE
