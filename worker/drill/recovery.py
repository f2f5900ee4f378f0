"""How long the pool took to get over each fault.

From the end of a fault (its strike, if it is over at once) until two things have come true: ten
more jobs have ended, and every job that the fault hit in the middle has been ended by somebody.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from worker.drill.faults import Strike
from worker.drill.ledger import Execution

ENDS = 10


@dataclass(frozen=True, slots=True)
class KindSummary:
    """All faults of one kind; None where no recovery could be measured."""

    kind: str
    count: int
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
    by_kind: defaultdict[str, list[float | None]] = defaultdict(list)
    for strike in strikes:
        by_kind[strike.kind].append(recovery_seconds(strike, executions))
    found = []
    for kind, seconds in by_kind.items():
        known = [value for value in seconds if value is not None]
        found.append(
            KindSummary(
                kind,
                len(seconds),
                round(median(known), 2) if known else None,
                round(max(known), 2) if known else None,
            )
        )
    return sorted(found, key=lambda each: each.median_seconds or 0.0, reverse=True)


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
