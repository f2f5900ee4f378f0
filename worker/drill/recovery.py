"""How long the pool took to get over each fault.

From the end of a fault (its strike, if it is over at once) until ten more jobs have ended, and
every job that it broke off has been ended by somebody. One during whose recovery another fault
struck is not measured: nobody could say whose trouble that was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from worker.drill.ledger import Execution
from worker.drill.strike import Strike

ENDS = 10


@dataclass(frozen=True, slots=True)
class KindSummary:
    """All faults of one kind; None where no recovery could be measured."""

    kind: str
    count: int
    measured: int
    median_seconds: float | None
    max_seconds: float | None


def recovery_seconds(strike: Strike, executions: Sequence[Execution]) -> float | None:
    """Tell how long one fault was felt; None when the jobs ran out before."""
    ends = sorted(run.ended for run in executions if run.ended is not None)
    tenth = bisect_right(ends, strike.ended_at) + ENDS - 1
    if tenth >= len(ends):
        return None
    recovered_at = ends[tenth]
    for run in _interrupted(strike, executions):
        later = [
            other.ended
            for other in executions
            if other.job_id == run.job_id and other.ended and other.ended > strike.struck_at
        ]
        # A job that was ended for its worker, as poison, has no later execution.
        recovered_at = max([recovered_at, min(later)] if later else [recovered_at])
    return recovered_at - strike.ended_at


def summarise(strikes: Sequence[Strike], executions: Sequence[Execution]) -> list[KindSummary]:
    """Sum the faults up by kind, those that were felt longest first."""
    by_kind: defaultdict[str, list[float]] = defaultdict(list)
    for strike in strikes:
        seconds = recovery_seconds(strike, executions)
        if seconds is not None and not _is_disturbed(strike, seconds, strikes):
            by_kind[strike.kind].append(seconds)
    found = []
    for kind, count in Counter(strike.kind for strike in strikes).items():
        known = by_kind[kind]
        found.append(
            KindSummary(
                kind,
                count,
                len(known),
                round(median(known), 2) if known else None,
                round(max(known), 2) if known else None,
            )
        )
    return sorted(found, key=lambda each: each.median_seconds or 0.0, reverse=True)


def longest_standstill(executions: Sequence[Execution]) -> float:
    """Tell for how long, at the worst, not a single job ended."""
    ends = sorted(run.ended for run in executions if run.ended is not None)
    return round(max((later - earlier for earlier, later in pairwise(ends)), default=0.0), 1)


def _is_disturbed(strike: Strike, seconds: float, strikes: Sequence[Strike]) -> bool:
    until = strike.ended_at + seconds
    return any(strike.ended_at < other.struck_at < until for other in strikes)


def _interrupted(strike: Strike, executions: Sequence[Execution]) -> list[Execution]:
    """List what the processes that were hit were executing at that moment."""
    return [
        run
        for run in executions
        if run.started <= strike.struck_at
        and (run.ended is None or run.ended > strike.struck_at)
        and (strike.victims is None or run.process[0] in strike.victims)
        and strike.struck_at - run.started < 60
    ]
