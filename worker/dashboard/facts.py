"""What is dear to work out: counts of the queue, groups of failures, what is held back.

Gathered beside the requests (`keeper.py`), every statement bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from math import inf

from worker.claiming import held_back
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.held_back import HeldBack
from worker.dashboard import failed_groups
from worker.dashboard.failed_groups import Group
from worker.database.client import Database
from worker.guards.keys import ClosedKey
from worker.history.archive import EARLIEST
from worker.history.todo import Item, Todo
from worker.recovery import unswept
from worker.reporting import events, figures, nights
from worker.reporting.events import Event, Kind
from worker.reporting.figures import WorkerFigures
from worker.reporting.night import failing
from worker.reporting.night.failing import Ended
from worker.reporting.spans import HOUR, MINUTE
from worker.reporting.tally import Figures

# More than this nobody counts exactly.
MOST = 2_000_000
HELD_BACK_SECONDS = 1.0
MOST_EVENTS = 500
NIGHT, DAY, WEEK = timedelta(hours=14), timedelta(hours=24), timedelta(days=7)
# How far back each worker is added up.
BACK = (timedelta(hours=1), timedelta(hours=6), NIGHT, DAY, WEEK)
MOST_WORKERS = 64
# So many jobs are looked at for those that one site has done.
MOST_LOOKED_AT = 5_000
PACE = timedelta(minutes=15)
MOST_PACED = 8


@dataclass(frozen=True, slots=True)
class Facts:
    """One pass; `at` is the database's time."""

    at: datetime
    counts: dict[str, int]
    waiting: int
    groups: tuple[Group, ...] = ()
    held: tuple[HeldBack, ...] = ()
    # What limits, breakers, profiles and proxies let nothing start of.
    closed: dict[str, ClosedKey] = field(default_factory=dict)
    # Pauses, outages and breakers of the last week; runs and workers of the last day.
    events: tuple[Event, ...] = ()
    # What ended in each minute of the last night, and in each hour of the last week.
    minutes: tuple[Figures, ...] = ()
    hours: tuple[Figures, ...] = ()
    # What ended this night, which is the report's, and in the last hour.
    night_start: datetime = EARLIEST
    # What was first seen since then is NEW.
    new_since: datetime = EARLIEST
    tonight: Ended = field(default_factory=Ended)
    lately: Ended = field(default_factory=Ended)
    # How many jobs of this night were done after more than one attempt.
    recovered: int = 0
    # How many jobs of a site are done since its breaker closed, where it has.
    answered: dict[str, int] = field(default_factory=dict)
    # How many jobs of a site are done in a minute lately, where a limit holds others back.
    paces: dict[str, float] = field(default_factory=dict)
    # What waits for a person.
    todo: Todo = field(default_factory=Todo)
    # What each worker came to, by how far back.
    workers: dict[timedelta, tuple[WorkerFigures, ...]] = field(default_factory=dict)

    @property
    def shown_groups(self) -> list[Group]:
        """The groups that are not muted."""
        return [group for group in self.groups if not group.is_muted]

    @property
    def failed(self) -> int:
        """How many jobs are in error, without muted groups."""
        return sum(group.jobs for group in self.shown_groups)

    @property
    def failed_tonight(self) -> int:
        """How many of these failed this night."""
        return sum(group.tonight for group in self.shown_groups)

    @property
    def failing(self) -> str:
        """Which share fails, if that is much: of the night, or lately."""
        before = [each for each in self.hours if each.end <= self.night_start]
        usual = Ended(sum(each.done for each in before), sum(each.failed for each in before))
        return failing.warning(self.tonight, self.lately, usual)

    @property
    def duties(self) -> list[Item]:
        """What waits for a person, without a pause of all runs: every page tells of that."""
        return [item for item in self.todo.items if item.kind != "pause"]

    @property
    def held_jobs(self) -> int:
        """How many jobs are held back."""
        return sum(item.jobs for item in self.held)

    def group(self, key: str | None) -> Group | None:
        """Find a group by its fingerprint."""
        return next((group for group in self.groups if key and group.key == key), None)

    @property
    def failed_since(self) -> datetime:
        """What failed since then is told of as this night's, also when it has only just begun."""
        return failed_groups.failed_since(self.new_since, self.at)

    def breaker_of(self, site: str) -> Event | None:
        """Find the last opening of a site's breaker in the last week."""
        return breaker_of(self.events, site)


def breaker_of(told: Sequence[Event], site: str) -> Event | None:
    """Find the last opening of a site's breaker among events, which are by their beginning."""
    name = f"site:{site}"
    found = [event for event in told if event.kind is Kind.BREAKER and event.name == name]
    return found[-1] if site and found else None


def gather(db: Database, zone: tzinfo) -> Facts:
    """Work everything out; a night begins by the clock of the zone."""
    counts = {row["status"]: int(row["jobs"]) for row in db.fetch_all("count_up_to", most=MOST)}
    in_error = counts["error"] if counts["error"] < MOST else inf
    night = nights.this_night(db, zone)
    now = night.now
    new_since = nights.beginning(night.start, zone)
    tonight = figures.totals(db, night.start, now)
    groups = tuple(failed_groups.in_error(db, now, new_since))
    told = tuple(_events(db, now))
    held = tuple(held_back.count(db, seconds=HELD_BACK_SECONDS))
    return Facts(
        at=now,
        waiting=counts.pop("waiting"),
        counts=counts,
        groups=groups,
        night_start=night.start,
        new_since=new_since,
        # What failed and was done after a retry by hand has not failed.
        tonight=Ended(tonight.done, min(tonight.failed, in_error)),
        lately=failing.lately(db, now, in_error),
        held=held,
        paces=_paces(db, now, held, told),
        closed=_closed(db),
        recovered=tonight.recovered,
        answered=_answered(db, groups, told),
        events=told,
        minutes=tuple(figures.series(db, now - NIGHT, now, MINUTE)),
        hours=tuple(figures.series(db, now - WEEK, now, HOUR)),
        todo=unswept.everything(db, counts["pending"]),
        workers={back: _per_worker(db, now - back, now) for back in BACK},
    )


def _per_worker(db: Database, since: datetime, until: datetime) -> tuple[WorkerFigures, ...]:
    """Add up each worker of the latest runs."""
    return tuple(figures.per_worker(db, since, until)[-MOST_WORKERS:])


def _closed(db: Database) -> dict[str, ClosedKey]:
    closures = ClosedKeys(db)
    closures.refresh()
    return dict(closures.closed)


def _events(db: Database, now: datetime) -> list[Event]:
    until = now + timedelta(seconds=1)
    week, day = now - WEEK, now - timedelta(days=1)
    found = events.between(db, week, until, (Kind.PAUSE, Kind.OUTAGE, Kind.BREAKER), MOST_EVENTS)
    found += events.between(db, day, until, (Kind.RUN, Kind.WORKER), MOST_EVENTS)
    return sorted(found, key=lambda event: event.began_at)


def _answered(db: Database, groups: Sequence[Group], told: Sequence[Event]) -> dict[str, int]:
    """Count what sites have done since their breakers closed, of those with failures."""
    found = {}
    for site in {group.site for group in groups if group.site}:
        opening = breaker_of(told, site)
        if opening is not None and opening.ended_at is not None:
            found[site], _ = _done_of(db, site, opening.ended_at)
    return found


def _paces(
    db: Database, now: datetime, held: Sequence[HeldBack], told: Sequence[Event]
) -> dict[str, float]:
    """Tell how fast sites go on whose limit holds jobs back; one that is left alone does not."""
    found = {}
    keys = [item.key for item in held if item.key.startswith("site:")]
    for site in (key.removeprefix("site:") for key in keys[:MOST_PACED]):
        opening = breaker_of(told, site)
        if opening is None or opening.ended_at is not None:
            done, is_whole = _done_of(db, site, now - PACE)
            if done and is_whole:
                found[site] = done / (PACE.total_seconds() / 60)
    return found


def _done_of(db: Database, site: str, since: datetime) -> tuple[int, bool]:
    """Count a site's jobs that are done since a moment, and tell whether these are all."""
    row = db.fetch_all("done_of_site_since", site=site, since=since, most=MOST_LOOKED_AT)[0]
    return int(row["jobs"]), int(row["seen"]) < MOST_LOOKED_AT
