"""The rule behind the verdict, one for report and dashboard: which of four, and for which cause.

Pure: each gives what it has read, and says the answer in its own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum, auto
from typing import Any

from worker.claiming.held_back import HeldBack
from worker.recovery.live_runs import Life, RunState
from worker.reporting import deadline

# Nothing has ended for so long though there is work: it stands still.
STALL_SECONDS = 900.0
# A live run's figures are as old as its last beat.
UNHEARD_SECONDS = 60.0
# A run that died is told of as long; then it is history.
DEAD_HOURS = 24


class Level(StrEnum):
    """The four verdicts."""

    SLEEP = "Go back to sleep"
    LOOK = "Look when you are up"
    GET_UP = "Get up"
    CANNOT_TELL = "Cannot tell"


class Cause(Enum):
    """Why it is that one."""

    PAUSED = auto()
    # A run may be dead, or only cut off.
    UNHEARD = auto()
    STALLED = auto()
    LATE = auto()
    # A run was killed and nobody has taken its place.
    KILLED = auto()
    # Jobs are left that could run, and no run is at work.
    LEFT = auto()
    # All that is left is held back or waits for its time.
    HELD = auto()
    MANY_FAIL = auto()
    WELL = auto()


@dataclass(frozen=True, slots=True)
class Situation:
    """How everything stands; `runs` are those that may matter, the newest first."""

    now: datetime
    runs: Sequence[RunState]
    left: int = 0
    # Of these, held back or waiting for their time.
    not_now: int = 0
    is_paused: bool = False
    many_fail: bool = False
    # While a run is at work: what could be done now, whether any job ended lately, how long the
    # rest takes; None where that cannot be told.
    to_go: int | None = None
    has_ended_lately: bool = False
    eta_seconds: float | None = None

    @property
    def alive(self) -> list[RunState]:
        """The runs at work."""
        return [run for run in self.runs if run.life is Life.ALIVE]

    @property
    def is_old(self) -> bool:
        """Whether a run has been at work long enough to know how it goes."""
        began = min((run.started_at for run in self.alive), default=self.now)
        return (self.now - began).total_seconds() > STALL_SECONDS


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict; `run` is the one that was killed or not heard of."""

    level: Level
    cause: Cause
    run: RunState | None = None


def judge(seen: Situation) -> Judgement:
    """Say whether somebody has to do something now."""
    if seen.is_paused:
        return Judgement(Level.LOOK, Cause.PAUSED)
    dead = unreplaced(seen.runs, seen.now)
    if (silent := _unheard(seen, dead)) is not None:
        return Judgement(Level.CANNOT_TELL, Cause.UNHEARD, silent)
    killed = dead[0] if dead else None
    if seen.alive:
        return _while_at_work(seen, killed)
    if seen.left > seen.not_now:
        cause = Cause.LEFT if killed is None else Cause.KILLED
        return Judgement(Level.GET_UP, cause, killed)
    if seen.left:
        return Judgement(Level.LOOK, Cause.HELD, killed)
    if killed is not None:
        return Judgement(Level.LOOK, Cause.KILLED, killed)
    if seen.many_fail:
        return Judgement(Level.LOOK, Cause.MANY_FAIL)
    return Judgement(Level.SLEEP, Cause.WELL)


def _while_at_work(seen: Situation, killed: RunState | None) -> Judgement:
    if seen.to_go and seen.is_old and not seen.has_ended_lately:
        return Judgement(Level.GET_UP, Cause.STALLED, killed)
    if deadline.will_be_late(seen.alive, seen.eta_seconds, seen.now):
        return Judgement(Level.GET_UP, Cause.LATE, killed)
    if seen.many_fail:
        return Judgement(Level.LOOK, Cause.MANY_FAIL, killed)
    if killed is not None:
        return Judgement(Level.LOOK, Cause.KILLED, killed)
    return Judgement(Level.SLEEP, Cause.WELL)


def unreplaced(runs: Sequence[RunState], now: datetime) -> list[RunState]:
    """List runs that died or fell silent lately and whose place no later run has taken."""
    since = now - timedelta(hours=DEAD_HOURS)
    return [
        run
        for run in runs
        if run.life in (Life.GONE, Life.SILENT)
        and run.heartbeat_at >= since
        and not any(other.host == run.host and other.run_id > run.run_id for other in runs)
    ]


def held(counted: Sequence[HeldBack], runs: Sequence[RunState]) -> int:
    """Tell how many jobs are held back, by a count that may have been cut short.

    Then the newest run's own count at its end stands in; an older run's tells nothing of now.
    """
    jobs = sum(item.jobs for item in counted)
    newest = max(runs, key=lambda run: run.run_id, default=None)
    if newest is None or not any(item.or_more for item in counted):
        return jobs
    return max(jobs, sum(int(item["jobs"]) for item in held_at_end(newest)))


def held_at_end(run: RunState) -> list[dict[str, Any]]:
    """List what a run has left held back, as it wrote it down; empty for one that was killed."""
    return list((run.summary or {}).get("held_back") or ())


def _unheard(seen: Situation, dead: Sequence[RunState]) -> RunState | None:
    """Find a run of which nobody can say whether it works."""
    if silent := [run for run in dead if run.life is Life.SILENT]:
        return max(silent, key=lambda run: run.silent_seconds)
    if seen.alive and all(run.silent_seconds > UNHEARD_SECONDS for run in seen.alive):
        return max(seen.alive, key=lambda run: run.silent_seconds)
    return None
