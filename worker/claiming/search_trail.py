"""What a worker remembers of a look for jobs: how far it came, and what it left out on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from worker.claiming.ready_jobs import FIRST_ID


@dataclass(frozen=True, slots=True)
class News:
    """What the pool knows of the ready jobs: how many there are, how many were made ready."""

    ready: int
    promoted: int = 0

    def tells_of_more_than(self, then: News) -> bool:
        """Whether jobs came, or came back, that were not there then."""
        return self.ready > then.ready or self.promoted != then.promoted


@dataclass(slots=True)
class Trail:
    """How far one way of looking has come at one priority, and what it left out on the way.

    All that was ready up to `cursor` was found, or held back by `left_out`; so there is nothing to
    look back for while those keys stay closed, but for jobs that came back. `news_then` is what
    the pool knew then. The rest is of a look back under way: how far it has come, what it left out,
    how long it took, what the pool knew when it began.
    """

    cursor: int = FIRST_ID
    left_out: set[str] = field(default_factory=set)
    looked_back_at: float = 0.0
    took_seconds: float = 0.0
    news_then: News | None = None
    back: int | None = None
    back_left_out: set[str] = field(default_factory=set)
    back_took: float = 0.0
    back_news: News | None = None

    def note_first_walk(self, began: float, now: float) -> None:
        """Rest after a walk from the very beginning: what lies behind was looked at just now."""
        if not self.looked_back_at:
            self.looked_back_at, self.took_seconds = now, now - began
