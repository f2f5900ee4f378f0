"""What the figures prove about a group of failures: whether a retry is likely to help, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from worker.dashboard import evidence_files
from worker.dashboard.facts import Facts
from worker.dashboard.failed_groups import Group
from worker.dashboard.wording import Clock, counted
from worker.evidence.last_good import LastGood
from worker.guards.keys import ClosedKey, task_at_key
from worker.history.todo import Item
from worker.installation import command_line
from worker.reporting.charts.marks import Mark


class Outlook(StrEnum):
    """What a retry of a group would come to, as far as it is proved."""

    HELPS = "helps"
    FAILS = "fails"
    WAITS = "waits"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Hint:
    """A sentence about a group, and what follows from it; `brief` is for one line."""

    mark: Mark
    bold: str
    rest: str
    outlook: Outlook
    brief: str
    then: str = ""

    @property
    def helps(self) -> bool:
        """Whether a retry is likely to go well."""
        return self.outlook is Outlook.HELPS


def hint_of(group: Group, known: Facts, errors_dir: Path, clock: Clock) -> Hint | None:
    """Say what is proved; None where nothing is."""
    if group.half_done >= group.jobs:
        return _half_done(group)
    if (closed := _held_back(group, known)) is not None:
        return _waits(closed, known, clock)
    if (item := _profile_aside(group, known)) is not None:
        return _needs_a_person(item)
    if (good := _changed_since(group, errors_dir)) is not None:
        return _has_changed(good, group, known, clock)
    if (closed_at := _answers_since(group, known)) is not None:
        return _answers(known.answered.get(group.site, 0), clock.near(closed_at, known.at))
    return None


def _half_done(group: Group) -> Hint:
    return Hint(
        Mark.HELD_BACK,
        f"{counted(group.half_done, 'job')} may be half done: needs a person.",
        "A step that cannot be undone was begun and not ended; nothing of that is ever tried "
        "again by itself.",
        Outlook.PERSON,
        "May be half done.",
    )


def _waits(closed: ClosedKey, known: Facts, clock: Clock) -> Hint:
    reason = closed.reason.replace("site:", "")
    again, brief = "What is retried waits until a person closes it.", "Its breaker is held open."
    if closed.seconds is not None:
        at = clock.hour(known.at + timedelta(seconds=closed.seconds))
        again = f"Nightshift looks again by itself at {at}; what is retried waits until then."
        brief = f"Its breaker is open, next look at {at}."
    return Hint(Mark.HELD_BACK, f"{reason[:1].upper()}{reason[1:]}.", again, Outlook.WAITS, brief)


def _needs_a_person(item: Item) -> Hint:
    return Hint(
        Mark.HELD_BACK,
        f"Needs a person: profile {item.name} is set aside.",
        f"{item.reason[:1].upper()}{item.reason[1:]}.",
        Outlook.PERSON,
        f"Profile {item.name} is set aside.",
        f"Put right what it says, then: {item.command}",
    )


def _has_changed(good: LastGood, group: Group, known: Facts, clock: Clock) -> Hint:
    def near(moment: datetime) -> str:
        return clock.near(moment, known.at)

    return Hint(
        Mark.LOOK,
        "The page has changed; a retry is likely to fail the same way.",
        f"{good.change(near)}.",
        Outlook.FAILS,
        f"The page has changed: last good at {near(good.at)}.",
        f"Mend the task, try it on the pages that failed, then send some ahead: "
        f"{command_line('rehearse', '--group', group.key)} --tasks FILE",
    )


def _answers(done: int, at: str) -> Hint:
    since = f"{counted(done, 'job')} of this site {'is' if done == 1 else 'are'} done since"
    return Hint(
        Mark.DONE,
        "The site answers again; a retry is likely to help.",
        f"Its breaker closed at {at}; {since}, and none has failed so."
        if done
        else f"Its breaker closed at {at}, and none has failed so since.",
        Outlook.HELPS,
        f"The site answers again since {at}.",
    )


def _held_back(group: Group, known: Facts) -> ClosedKey | None:
    """Find what the open breaker of a group's site holds back: the site, or this task there."""
    opening = known.breaker_of(group.site)
    if opening is None or opening.ended_at is not None:
        return None
    key = f"site:{group.site}"
    at_task = task_at_key(str(group.row.get("task")), key)
    return known.closed.get(key) or known.closed.get(at_task)


def _profile_aside(group: Group, known: Facts) -> Item | None:
    """Find the profile that the latest failure used, if that waits for a person now."""
    used = group.samples[-1].get("used_profile") if group.samples else None
    return next((item for item in _aside(known) if item.name == used), None)


def _aside(known: Facts) -> Iterator[Item]:
    # One that only lacks a proxy has no moment since when it does.
    return (item for item in known.todo.items if item.kind == "profile" and item.since is not None)


def _changed_since(group: Group, errors_dir: Path) -> LastGood | None:
    """Find the last good page, if the latest failure lacks what was there."""
    for sample in reversed(group.samples):
        good = evidence_files.last_good_of(sample, errors_dir)
        if good is not None:
            change = good.comparison
            return good if change is not None and change.is_gone else None
    return None


def _answers_since(group: Group, known: Facts) -> datetime | None:
    """Tell when the breaker of a group's site closed, if nothing has failed so since."""
    opening = known.breaker_of(group.site)
    ended = opening.ended_at if opening is not None else None
    return ended if ended is not None and group.row["last_seen"] <= ended else None
