"""Whom the drill itself has hit: what it did to a job's worker is not the job's fault, nor ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from worker.drill.strike import Strike

# A death is noticed, and written down, a moment after the hit; a browser's when it is next used.
NOTICE_SECONDS = 3.0


class Held(Protocol):
    """A claim that has ended: who held it, and from when to when."""

    @property
    def process(self) -> tuple[int, int] | None: ...
    @property
    def started_at(self) -> float: ...
    @property
    def finished_at(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Hit:
    """One fault that hit one process or its browser, by the clock on the wall."""

    pid: int
    began: float
    ended: float


def hits_of(strikes: Iterable[Strike]) -> list[Hit]:
    """List who was hit, and when. A fault of the whole pool is none: no job may suffer from it."""
    return [
        Hit(pid, strike.struck_at_wall, strike.struck_at_wall + strike.ended_at - strike.struck_at)
        for strike in strikes
        for pid in strike.victims or ()
    ]


def struck_claims(claims: Sequence[Held], hits: Sequence[Hit]) -> int:
    """Count the claims whose worker was hit while it held them."""
    return sum(any(_was_hit(claim, hit) for hit in hits) for claim in claims)


def _was_hit(claim: Held, hit: Hit) -> bool:
    return (
        claim.process is not None
        and claim.process[0] == hit.pid
        and claim.started_at <= hit.ended + NOTICE_SECONDS
        and hit.began <= claim.finished_at
    )
