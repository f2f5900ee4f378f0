"""What a failure's evidence says of the last good page of its task and site, for people.

`error.json` holds what sites and tasks have said: everything is checked, cut and made one line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from worker.evidence.terminal_text import one_line

MAX_TEXT = 300


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many elements a selector matched then and now; None where nobody can say."""

    selector: str
    then: int | None
    now: int | None
    nearest: str | None = None
    nearest_text: str = ""

    @property
    def is_gone(self) -> bool:
        """Whether it was on the good page and is no more."""
        return bool(self.then) and self.now == 0


@dataclass(frozen=True, slots=True)
class LastGood:
    """The last good page: whose it was, and when (UTC, by the clock of its host)."""

    job_id: int
    at: datetime
    url: str
    comparison: Comparison | None = None

    def headline(self, clock: Callable[[datetime], str]) -> str:
        """Write `last good at 01:12 (job 3310)`."""
        return f"last good at {clock(self.at)} (job {self.job_id})"

    def change(self, clock: Callable[[datetime], str]) -> str:
        """Write how often the selector that failed matched then and now, and what is nearest now.

        Nothing is written where neither is known.
        """
        found = self.comparison
        if found is None or (found.then is None and found.now is None):
            return ""
        parts = []
        if found.then is not None:
            elements = "1 element" if found.then == 1 else f"{found.then:,} elements"
            parts.append(f"`{found.selector}` matched {elements} at {clock(self.at)}")
        if found.now is not None:
            named = "" if parts else f"`{found.selector}` matches "
            parts.append(f"{named}{found.now:,} now")
        text = ", ".join(parts)
        return f"{text}; nearest now: `{found.nearest}`" if found.nearest else text


def of_facts(facts: dict[str, Any]) -> LastGood | None:
    """Read what an error.json says of the last good page; None when it says nothing of one."""
    told = facts.get("last_good")
    if not isinstance(told, dict):
        return None
    job_id, at = _number(told.get("job_id")), _moment(told.get("at"))
    if job_id is None or at is None:
        return None
    return LastGood(job_id, at, _text(told.get("url")), _comparison(told.get("comparison")))


def _comparison(told: Any) -> Comparison | None:
    if not isinstance(told, dict) or not (selector := _text(told.get("selector"))):
        return None
    return Comparison(
        selector,
        _number(told.get("then")),
        _number(told.get("now")),
        _text(told.get("nearest")) or None,
        _text(told.get("nearest_text")),
    )


def _number(value: Any) -> int | None:
    is_one = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return value if is_one else None


def _text(value: Any) -> str:
    return one_line(value[:MAX_TEXT]).strip() if isinstance(value, str) else ""


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else None
