"""What a person does in the morning: what waits for one first, then what failed, then doubts."""

from __future__ import annotations

from collections.abc import Sequence

from worker.history.todo import Item, Todo
from worker.reporting.night.model import Doubt, Duty, Group, GroupTotals
from worker.reporting.night.words import clean, counted

MOST_DUTIES = 8
# What a group's command sends ahead.
AHEAD = 10


def duties(todo: Todo, groups: Sequence[Group], doubts: Sequence[Doubt]) -> list[Duty]:
    """List everything in the order in which it is worth a person's time."""
    listed = [_of_item(item, todo.is_lower_bound) for item in todo.items]
    open_groups = [group for group in groups if not group.is_muted and not group.half_done]
    # First what a retry is likely to mend, then what has to be looked at.
    open_groups.sort(key=lambda each: (not each.hint, -each.jobs))
    listed += [_of_group(group) for group in open_groups]
    listed += [_of_doubt(doubt) for doubt in doubts]
    return listed


def left_out(listed: Sequence[Duty], groups: Sequence[Group], totals: GroupTotals) -> int:
    """Count what the page has no room for: duties past the first, and groups not among `groups`."""
    unlisted = totals.groups - totals.muted - sum(not group.is_muted for group in groups)
    return max(0, len(listed) - MOST_DUTIES) + max(0, unlisted)


def _of_item(item: Item, is_lower_bound: bool) -> Duty:
    hanging = ""
    if item.kind != "half done" and item.jobs:
        at_least = "at least " if is_lower_bound else ""
        hanging = f"; {at_least}{counted(item.jobs, 'pending job')} hang{'s' * (item.jobs == 1)}"
        hanging += " on it"
    what = f"{item.kind} {item.name}" if item.kind != "half done" else item.name
    what = clean(what, 120)
    return Duty(what[:1].upper() + what[1:], clean(item.reason) + hanging, clean(item.command, 200))


def _of_group(group: Group) -> Duty:
    if group.hint and "--limit" not in group.command:
        return Duty(f"Retry {group.jobs:,}", group.hint, group.command)
    then = "ten" if group.jobs > AHEAD else "them"
    what = f"Look at {group.jobs:,} that failed, then retry {then}"
    return Duty(what, group.title, group.command)


def _of_doubt(doubt: Doubt) -> Duty:
    about = "about " if doubt.is_estimate else ""
    what = f"Look twice at {about}{counted(doubt.count, 'result')} of {doubt.task}"
    return Duty(what, said_of(doubt), doubt.command)


def said_of(doubt: Doubt) -> str:
    """Say what is doubtful, and what was usual."""
    what = "empty" if doubt.kind == "empty" else "much smaller than before"
    usual = "none was before"
    if doubt.usual_share:
        usual = f"usually 1 in {max(1, round(1 / doubt.usual_share)):,} is"
    where = f", all from {doubt.site}" if doubt.site else ""
    return f"They are {what}{where}; {usual}."
