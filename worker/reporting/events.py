"""What happened when: runs, workers' lives, pauses, outages and breakers, each with its times.

Runs and workers are read from their own rows. Whoever was killed could not write its end: it ended
with its run's last heartbeat.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from worker.database.client import Database, Row
from worker.recovery import live_runs
from worker.recovery.live_runs import RunState

LIMIT = 1000
# A run beats at least this often, and may end this long after its last beat.
BEAT_SECONDS = 60


class Kind(StrEnum):
    """What an event is about."""

    RUN = "run"
    WORKER = "worker"
    PAUSE = "pause"
    OUTAGE = "outage"
    BREAKER = "breaker"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that lasted from a moment until another one (UTC); `ended_at` None: it goes on.

    `name` is the key of a breaker, the host of an outage or a run, or `SLOT` of a worker. `why`
    says in a few words how it ended or why it was: `drained`, `killed by SIGKILL`, a reason.
    """

    kind: Kind
    name: str
    began_at: datetime
    ended_at: datetime | None
    why: str
    run_id: int | None = None
    slot: int | None = None
    host: str | None = None
    # How many workers the slot had had in this run before.
    restarts: int = 0
    detail: dict[str, Any] = field(default_factory=dict)


def between(
    db: Database,
    since: datetime,
    until: datetime,
    kinds: Collection[Kind] = tuple(Kind),
    limit: int = LIMIT,
) -> list[Event]:
    """List what went on between two moments, by its beginning; at most `limit` of each kind.

    Where there are more, the latest are told.
    """
    found: list[Event] = []
    if {Kind.RUN, Kind.WORKER} & set(kinds):
        runs = runs_between(db, since, until, limit)
        found += [_of_run(run) for run in runs]
        if Kind.WORKER in kinds:
            found += _lives(db, runs, since, until, limit)
    if {Kind.PAUSE, Kind.OUTAGE, Kind.BREAKER} & set(kinds):
        rows = db.fetch_all("events_between", since=since, until=until, limit=limit)
        found += [_of_row(row) for row in rows]
    wanted = [event for event in found if event.kind in kinds]
    return sorted(wanted, key=lambda event: event.began_at)


def runs_between(
    db: Database, since: datetime, until: datetime, limit: int = LIMIT
) -> list[RunState]:
    """List the runs that were at work between two moments, the one that beat last first."""
    rows = db.fetch_all(
        "runs_between", since=since, until=until, beat_seconds=BEAT_SECONDS, limit=limit
    )
    return [live_runs.state_of(row) for row in rows]


def _lives(
    db: Database, runs: Sequence[RunState], since: datetime, until: datetime, limit: int
) -> list[Event]:
    if not runs:
        return []
    known = {run.run_id: run for run in runs}
    rows = db.fetch_all(
        "workers_of_runs", run_ids=tuple(known), since=since, until=until, limit=limit
    )
    before: dict[tuple[int, int], int] = {}
    lives = []
    for row in sorted(rows, key=lambda row: row["started_at"]):
        place = (row["run_id"], row["slot"])
        lives.append(_of_worker(row, known[row["run_id"]], before.get(place, 0)))
        before[place] = before.get(place, 0) + 1
    return lives


def _of_run(run: RunState) -> Event:
    return Event(
        Kind.RUN,
        run.host,
        run.started_at,
        run.over_at,
        run.ending,
        run_id=run.run_id,
        host=run.host,
        detail={
            "slots": [run.first_slot, run.workers, run.total],
            "summary": run.summary,
            "claims_until": run.claims_until,
        },
    )


def _of_worker(row: Row, run: RunState, restarts: int) -> Event:
    return Event(
        Kind.WORKER,
        str(row["slot"]),
        row["started_at"],
        row["ended_at"] or run.over_at,
        row["ending"] or ("" if run.over_at is None else run.ending),
        run_id=row["run_id"],
        slot=row["slot"],
        host=run.host,
        restarts=restarts,
        detail={"incarnation": row["id"]},
    )


def _of_row(row: Row) -> Event:
    detail = json.loads(row["detail"])
    return Event(
        Kind(row["kind"]),
        row["name"],
        row["began_at"],
        row["ended_at"],
        str(detail.get("reason", "")),
        run_id=row["run_id"],
        host=row["name"] if row["kind"] == Kind.OUTAGE else None,
        detail=detail,
    )
