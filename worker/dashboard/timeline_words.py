"""The timeline in words: what held it up, with times and names; whether a run was early."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from worker.dashboard.wording import Clock, about, counted
from worker.reporting.charts.marks import Mark
from worker.reporting.events import Event, Kind
from worker.reporting.lanes import Lane

SHOWN_NAMES = 2
# So near to its plan, a run was neither early nor late.
ON_TIME_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Said:
    """One of the facts beside the title; `label` is what its mark says."""

    mark: Mark
    label: str
    bold: str
    rest: str


def title(events: Iterable[Event], until: datetime, clock: Clock, *, is_live: bool) -> str:
    """Say how the last run in a window stands, or that there was none."""
    runs = [event for event in events if event.kind is Kind.RUN]
    if not runs:
        return "Nobody was at work." if is_live else "What happened when."
    alive = [run for run in runs if run.ended_at is None or run.ended_at > until]
    if alive:
        return f"Run {alive[-1].run_id} is at work." if is_live else "A run at work."
    last = max(runs, key=lambda run: run.ended_at or run.began_at)
    return (
        f"Run {last.run_id} {last.why} at {clock.hour(last.ended_at)}{_against_plan(last, clock)}."
    )


def _against_plan(run: Event, clock: Clock) -> str:
    """Say how long before or after the end that it was given a run ended, if it was given one."""
    planned = run.detail.get("claims_until")
    if planned is None or run.ended_at is None:
        return ""
    spare = (planned - run.ended_at).total_seconds()
    if abs(spare) < ON_TIME_SECONDS:
        return f", on time for {clock.hour(planned)}"
    return f", {about(abs(spare))} {'before' if spare > 0 else 'after'} {clock.hour(planned)}"


def facts_of(events: Sequence[Event], since: datetime, until: datetime, clock: Clock) -> list[Said]:
    """Say what held the workers up: how often, for how long, when, where and by whom."""

    def of(kind: Kind) -> list[Event]:
        # A queue's pause cost the others nothing.
        return [
            event
            for event in events
            if event.kind is kind and not (kind is Kind.PAUSE and event.name)
        ]

    def lasted(found: Sequence[Event]) -> str:
        seconds = sum(_seconds(event, since, until) for event in found)
        last = clock.near(found[-1].began_at, until)
        if len(found) == 1:
            return f", {about(seconds)}, at {last}"
        return f", {about(seconds)} in all, the last at {last}"

    outages, breakers, pauses = of(Kind.OUTAGE), of(Kind.BREAKER), of(Kind.PAUSE)
    restarts = [each for each in of(Kind.WORKER) if each.restarts and each.began_at >= since]
    said = [
        Said(Mark.OUTAGE, "outages", counted(len(outages), "outage"), lasted(outages))
        if outages
        else Said(Mark.DONE, "outages", "No outage", " of the database"),
        Said(
            Mark.HELD_BACK, "breakers", counted(len(breakers), "breaker"),
            f" opened{lasted(breakers)}: {_names(event.name for event in breakers)}",
        )
        if breakers
        else Said(Mark.DONE, "breakers", "No breaker", " opened"),
        Said(
            Mark.PAUSED, "pauses", counted(len(pauses), "pause"),
            f"{lasted(pauses)}, by {_names(_who(event) for event in pauses)}",
        )
        if pauses
        else Said(Mark.DONE, "pauses", "Never paused", ""),
    ]  # fmt: skip
    return [*said, _restarts(restarts)]


def reasons_of(lane: Lane) -> str:
    """Say why the workers of a lane ended that another one took over from."""
    ended = Counter(life.why or "not known" for life in lane.lives[:-1])
    return ", ".join(
        f"{why} ({times:,} times)" if times > 1 else why for why, times in ended.most_common()
    )


def _restarts(found: Sequence[Event]) -> Said:
    if not found:
        return Said(Mark.DONE, "restarts", "No worker", " was restarted")
    (slot, times), *others = Counter(event.slot for event in found).most_common()
    if not others:
        rest = f" of worker {slot}"
    elif times > 1:
        rest = f", {times:,} of them worker {slot}"
    else:
        rest = f" of {counted(len(others) + 1, 'worker')}"
    return Said(Mark.RESTARTED, "restarts", counted(len(found), "restart"), rest)


def _seconds(event: Event, since: datetime, until: datetime) -> float:
    return (min(event.ended_at or until, until) - max(event.began_at, since)).total_seconds()


def _who(event: Event) -> str:
    return str(event.detail.get("by") or "somebody")


def _names(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(name.removeprefix("site:") for name in names))
    rest = len(found) - SHOWN_NAMES
    return ", ".join(found[:SHOWN_NAMES]) + (f" and {rest:,} more" if rest > 0 else "")
