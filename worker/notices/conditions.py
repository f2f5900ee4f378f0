"""What is told of a run that goes on, and when: once, and again only after it was over.

Pure: the lookout gives it what it saw and the time, and does the telling.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Change(Enum):
    """What became of a condition."""

    BEGAN = auto()
    ENDED = auto()


@dataclass(slots=True)
class Condition:
    """Something that holds or not; to come back, it must have been over for `rest_seconds`."""

    rest_seconds: float = 0.0
    is_told: bool = False
    _over_since: float | None = None

    def look(self, holds: bool | None, now: float) -> Change | None:
        """Take what was seen, None for what cannot be told; return what changed by it."""
        if holds is None:
            return None
        if holds:
            self._over_since = None
            if self.is_told:
                return None
            self.is_told = True
            return Change.BEGAN
        if not self.is_told:
            return None
        self._over_since = now if self._over_since is None else self._over_since
        if now - self._over_since < self.rest_seconds:
            return None
        self.is_told = False
        return Change.ENDED


@dataclass(slots=True)
class Stillness:
    """Since when nothing has finished though there was work."""

    since: float

    def look(self, last_end_ago: float | None, has_work: bool, now: float) -> float:
        """Take how long ago the last job ended, None if unknown; return the seconds since."""
        if not has_work:
            self.since = now
        elif last_end_ago is not None:
            self.since = max(self.since, now - last_end_ago)
        return now - self.since
