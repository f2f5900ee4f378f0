"""Which sites are left alone now, in a sentence, and when they are looked at again."""

from __future__ import annotations

from datetime import datetime, timedelta

from worker.dashboard.facts import Facts
from worker.dashboard.wording import Clock
from worker.guards.keys import ClosedKey
from worker.reporting.events import Kind

SITE = "site:"
SHOWN = 3


def told_of(known: Facts, clock: Clock) -> str:
    """Say it; nothing where no site is left alone."""
    shut = [(site, closed) for site in _open(known) if (closed := _closed(known, site)) is not None]
    if not shut:
        return ""
    names = ", ".join(site for site, _ in shut[:SHOWN])
    names += f" and {len(shut) - SHOWN:,} more" if len(shut) > SHOWN else ""
    looks = [known.at + timedelta(seconds=c.seconds) for _, c in shut if c.seconds is not None]
    subject = f"One site is left alone, {names}" if len(shut) == 1 else f"Left alone are {names}"
    return f"{subject}; {_again(min(looks, default=None), clock)}."


def _again(moment: datetime | None, clock: Clock) -> str:
    if moment is None:
        return "until a person closes its breaker"
    return f"Nightshift looks again at {clock.hour(moment)} by itself"


def _open(known: Facts) -> list[str]:
    """List the sites whose breaker is open, the one that opened first first."""
    found = [
        event.name.removeprefix(SITE)
        for event in known.events
        if event.kind is Kind.BREAKER and event.ended_at is None and event.name.startswith(SITE)
    ]
    return list(dict.fromkeys(found))


def _closed(known: Facts, site: str) -> ClosedKey | None:
    """Find what of a site lets nothing through: all of it, or a task there."""
    if whole := known.closed.get(f"{SITE}{site}"):
        return whole
    at_site = (key for key in known.closed if key.startswith("task-at-site:"))
    return next((known.closed[key] for key in at_site if key.endswith(f"@{site}")), None)
