"""Caps on how often something starts within an hour or a day, and daily caps that grow.

Starts are counted by the minute, in the transaction of the claim, so the count is right over hosts
and restarts. Any hour and any day counts, not that of a calendar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.flags import parse_duration
from worker.guards.keys import ClosedKey

HOUR, DAY, MINUTE = 3600.0, 86400.0, 60.0
MOST = 2**31 - 1
WARM_UP_EXAMPLE = "5..40/14d: 5 a day at first, 40 a day after 14 days"

_WARM_UP = re.compile(r"\s*(\d+)\s*\.\.\s*(\d+)\s*/\s*(.+)")


@dataclass(frozen=True, slots=True)
class WarmUp:
    """A daily cap that grows from one number to another within a time, and stays there."""

    first: int
    last: int
    seconds: int

    def __str__(self) -> str:
        return f"{self.first}..{self.last} per day within {_time(self.seconds)}"


@dataclass(frozen=True, slots=True)
class Pace:
    """How often something may start."""

    per_hour: int | None = None
    per_day: int | None = None
    warm_up: WarmUp | None = None


@dataclass(frozen=True, slots=True)
class Resting(ClosedKey):
    """A key that has reached one of these caps."""

    cap: str = ""


@dataclass(frozen=True, slots=True)
class _Cap:
    """A cap as it is now, and when it is higher by itself (None: never)."""

    starts: int
    window_seconds: float
    name: str
    grows_in_seconds: float | None = None


def parse_warm_up(text: str) -> WarmUp:
    """Read `5..40/14d`; raises UsageError that says what is wrong."""
    match = _WARM_UP.fullmatch(text)
    if match is None:
        raise UsageError(f"--warm-up {text!r} is not understood; write {WARM_UP_EXAMPLE}")
    first, last = int(match[1]), int(match[2])
    try:
        seconds = parse_duration(match[3])
    except ValueError as error:
        raise UsageError(f"--warm-up {text!r}: {error}") from None
    if (problem := _warm_up_problem(first, last, seconds)) is not None:
        raise UsageError(f"--warm-up {text!r} {problem}; write {WARM_UP_EXAMPLE}")
    return WarmUp(first, last, int(seconds))


def _warm_up_problem(first: int, last: int, seconds: float) -> str | None:
    if first < 1:
        return "lets nothing start at first, so it would never begin"
    if last > MOST or seconds > MOST:
        return f"is out of range: no number of starts or seconds may be over {MOST:,}"
    if seconds < 1:
        return "ends before it starts"
    if first >= last:
        return f"does not grow: {last} is not more than {first}"
    return None


def _time(seconds: float) -> str:
    """Write a time in the largest unit that it fills, so that a forgotten unit is seen."""
    units = ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"), (1.0, "second"))
    unit, name = next(each for each in units if seconds >= each[0])
    return f"{seconds / unit:g} {name}{'s' * (seconds != unit)}"


def warm_up_of(limit: Row) -> WarmUp | None:
    """Return the warm-up that a limit's row holds."""
    if limit["warm_from"] is None:
        return None
    return WarmUp(limit["warm_from"], limit["warm_to"], limit["warm_seconds"])


def rests(limit: Row) -> Resting | None:
    """Tell whether a limit is known to have reached such a cap."""
    seconds = float(limit["rest_seconds"])
    return _resting(limit, limit["resting_cap"], seconds) if seconds > 0 else None


def judge(tx: Transaction, limit: Row) -> Resting | None:
    """Count the starts of a locked limit's key; tell whether it has reached one of its caps."""
    caps = list(_caps(limit))
    if not caps:
        return None
    rows = tx.fetch_all("starts_lately", name=limit["name"])
    buckets = [(float(row["age_seconds"]), int(row["starts"])) for row in rows]
    waits = [(_wait_seconds(cap, buckets), cap) for cap in caps]
    seconds, cap = max(waits, key=lambda wait: wait[0])
    return _resting(limit, cap.name, seconds) if seconds > 0 else None


def count(tx: Transaction, limit: Row) -> None:
    """Count a start for a locked limit's key, and note when the cap that this reaches ends."""
    if not any(_caps(limit)):
        return
    if tx.execute("count_paced_start", name=limit["name"]) == 1:
        tx.execute("forget_starts", name=limit["name"])
    if (reached := judge(tx, limit)) is not None:
        rest(tx, reached)


def rest(writer: Database | Transaction, reached: Resting) -> None:
    """Note until when a key rests, so that nobody has to count to know it."""
    writer.execute("rest_limit", name=reached.key, seconds=reached.seconds, cap=reached.cap[:64])


def _caps(limit: Row) -> Iterator[_Cap]:
    if limit["per_hour"] is not None:
        yield _Cap(limit["per_hour"], HOUR, f"{limit['per_hour']} per hour")
    if limit["per_day"] is not None:
        yield _Cap(limit["per_day"], DAY, f"{limit['per_day']} per day")
    if (warm_up := warm_up_of(limit)) is not None:
        yield _warm_cap(warm_up, float(limit["warm_age_seconds"]))


def _warm_cap(warm_up: WarmUp, age_seconds: float) -> _Cap:
    step = warm_up.seconds / (warm_up.last - warm_up.first)
    steps = int(age_seconds / step)
    if age_seconds >= warm_up.seconds:
        return _Cap(warm_up.last, DAY, f"{warm_up.last} per day")
    starts = warm_up.first + steps
    return _Cap(
        starts, DAY, f"{starts} per day while it warms up", (steps + 1) * step - age_seconds
    )


def _wait_seconds(cap: _Cap, buckets: list[tuple[float, int]]) -> float:
    """Say for how long a cap lets nothing start: until enough starts are long enough ago."""
    # The last start of a minute counts until a whole minute later.
    window = cap.window_seconds + MINUTE
    counted = sorted((age, starts) for age, starts in buckets if age < window)
    left = sum(starts for _, starts in counted)
    wait = 0.0
    while left >= cap.starts and counted:
        age, starts = counted.pop()
        left -= starts
        wait = window - age
    return wait if cap.grows_in_seconds is None else min(wait, cap.grows_in_seconds)


def _resting(limit: Row, cap: str, seconds: float) -> Resting:
    opens = limit["now"] + timedelta(seconds=seconds)
    reason = (
        f"{limit['name']} is limited to {cap}; the next may start at {opens:%Y-%m-%d %H:%M:%S}Z"
    )
    return Resting(limit["name"], reason, seconds, cap)
