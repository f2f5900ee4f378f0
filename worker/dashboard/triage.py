"""Which groups of failures are worth a retry now, which need a change, which need a person.

Only what `group_hints` proves is counted; of the rest it is said that nothing is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from worker.dashboard.failed_groups import Group
from worker.dashboard.group_hints import Hint, Outlook


@dataclass(frozen=True, slots=True)
class Triage:
    """How many groups a retry is likely to help, and what is known of all of them, in words."""

    helped: int
    headline: str
    say: str


def triage(told: Sequence[tuple[Group, Hint | None]]) -> Triage:
    """Put groups, each with what is proved of it, into one sentence and its reasons."""
    jobs: Counter[Outlook | None] = Counter()
    for group, hint in told:
        half_done = min(group.half_done, group.told_jobs)
        jobs[Outlook.PERSON] += half_done
        jobs[hint.outlook if hint is not None else None] += group.told_jobs - half_done
    helped = sum(hint is not None and hint.helps for _, hint in told)
    return Triage(helped, _headline(helped, len(told), jobs[None]), _say(jobs))


def _headline(helped: int, groups: int, unknown: int) -> str:
    if helped:
        first = "It is" if groups == 1 else "One is" if helped == 1 else f"{helped:,} are"
        return f"{first} worth a retry now."
    return "" if unknown or not groups else "No retry is likely to help yet."


def _say(jobs: Counter[Outlook | None]) -> str:
    parts = [
        _part(jobs[Outlook.HELPS], "can be retried: the site answers again"),
        _part(jobs[Outlook.FAILS], "{need} a change of the task first: the page has changed"),
        _part(jobs[Outlook.WAITS], "{wait} for a site that is left alone for now"),
        _part(jobs[Outlook.PERSON], "{need} a person"),
        f"Of {jobs[None]:,} nothing is proved; a few sent ahead tell." if jobs[None] else "",
    ]
    return " ".join(part for part in parts if part)


def _part(jobs: int, what: str) -> str:
    ending = "s" if jobs == 1 else ""
    return f"{jobs:,} {what.format(need='need' + ending, wait='wait' + ending)}." if jobs else ""
