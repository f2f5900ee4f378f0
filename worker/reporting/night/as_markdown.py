"""A night's report as Markdown, for a ticket or a chat; nothing in it is taken for markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from worker.evidence.terminal_text import one_line
from worker.reporting.charts.marks import CHARACTERS, Mark
from worker.reporting.night import figures_table, tables
from worker.reporting.night.as_text import HOUSE_MARKS, LEVEL_MARKS, about, foot
from worker.reporting.night.duties import said_of
from worker.reporting.night.model import Night
from worker.reporting.night.picture import said
from worker.reporting.night.tables import Table
from worker.reporting.night.words import clock, name_of, took

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&:@$^=])")


def markdown(night: Night) -> str:
    """Write the report."""
    parts: Iterable[Iterable[str]] = (
        _opening(night),
        _duties(night),
        _figures(night),
        _hours(night),
        _groups(night),
        *(_table(table) for table in tables.of(night)),
        _slowest(night),
        _doubts(night),
        _house(night),
        [*(f"{CHARACTERS[Mark.LOOK]} {plain(note)}\n" for note in night.notes), plain(foot(night))],
    )
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part))) + "\n"


def plain(text: str) -> str:
    """Escape all that Markdown, or HTML within it, would take for markup."""
    return _MARKUP.sub(r"\\\1", one_line(text))


def code(text: str) -> str:
    """Write a command so that it can be copied, whatever it holds."""
    line = one_line(text)
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{ticks} {line} {ticks}" if "`" in line else f"`{line}`"


def _opening(night: Night) -> Iterator[str]:
    mark = CHARACTERS[LEVEL_MARKS[night.verdict.level]]
    yield f"# {mark} {plain(night.verdict.sentence)}\n"
    yield f"{plain(name_of(night.window))}\n"
    yield plain(night.verdict.why)


def _duties(night: Night) -> Iterator[str]:
    if not night.duties:
        return
    yield f"## {CHARACTERS[Mark.LOOK]} For this morning\n"
    for place, duty in enumerate(night.duties, 1):
        yield f"{place}. **{plain(duty.what)}:** {plain(duty.why)}  "
        yield f"   {code(duty.command)}"
    if night.more_duties:
        yield f"\nAnd {night.more_duties:,} more: `launcher.py todo`, `launcher.py errors`"


def _figures(night: Night) -> Iterator[str]:
    yield "## In figures\n"
    yield f"{plain(figures_table.sum_of(night.counts))}  "
    yield f"{plain(figures_table.change(night))}\n"
    yield f"| | This night | {figures_table.heading(night)} | |"
    yield "|---|---:|---:|---|"
    for line in figures_table.lines(night):
        mark = f"{CHARACTERS[line.mark]} " if line.mark else ""
        worse = f"{CHARACTERS[Mark.LOOK]} worse than usual" if line.is_worse else ""
        yield f"| {mark}{line.name} | **{plain(line.this)}** | {plain(line.usual)} | {worse} |"


def _hours(night: Night) -> Iterator[str]:
    yield "## The night\n"
    yield " ".join(plain(sentence) for sentence in said(night)[1:]) or "Nothing held it up\\."
    yield "\n| From | Done | Failed | |"
    yield "|---|---:|---:|---|"
    for hour in night.hours:
        failed = f"{CHARACTERS[Mark.FAILED]} {hour.failed:,}" if hour.failed else "0"
        notes = plain("; ".join(hour.notes))
        yield f"| {clock(night.window, hour.start)} | {hour.done:,} | {failed} | {notes} |"


def _groups(night: Night) -> Iterator[str]:
    if not night.counts.failed:
        return
    yield f"## Failed: {figures_table.failed(night)}"
    for group in night.listed:
        new = " **NEW**" if group.is_new else ""
        yield f"\n### {CHARACTERS[Mark.FAILED]} {group.jobs:,} × {plain(group.task)}\n"
        yield f"{plain(group.label.removeprefix(f'{group.task}: '))}{new}\n"
        yield f"{plain(about(night, group))}\n"
        for sentence in filter(None, (group.last_good, group.hint)):
            yield f"{plain(sentence)}\n"
        yield code(group.command)
    if muted := night.group_totals.jobs_muted:
        yield f"\n{muted:,} in muted groups: `launcher.py errors --all`"
    if rest := figures_table.rest_of_failed(night):
        yield f"\n{rest}" + ": `launcher.py errors`" * bool(night.unlisted)


def _table(table: Table) -> Iterator[str]:
    yield f"## {table.title}\n"
    if table.rows:
        yield f"| {' | '.join(table.heads)} |"
        yield f"|---|{'---:|' * (len(table.heads) - 1)}"
    for row in table.rows:
        yield f"| {' | '.join(plain(cell) for cell in row)} |"
    if table.note:
        yield f"\n{plain(table.note)}"


def _slowest(night: Night) -> Iterator[str]:
    if not night.slowest:
        return
    yield "## Slowest\n"
    yield "| Task | Jobs | p50 | p95 | Slowest, job |"
    yield "|---|---:|---:|---:|---:|"
    for each in night.slowest:
        job = "–"
        if each.slowest_job is not None:
            job = f"{took(each.slowest_seconds)}, {each.slowest_job}"
        times = f"{took(each.p50)} | {took(each.p95)} | {job}"
        yield f"| {plain(each.task)} | {each.jobs:,} | {times} |"


def _doubts(night: Night) -> Iterator[str]:
    if not night.doubts:
        return
    yield "## Done, but look twice\n"
    for doubt in night.doubts:
        about_so_many = "about " if doubt.is_estimate else ""
        what = f"{about_so_many}{doubt.count:,} of {doubt.of:,} results of {doubt.task}"
        since = f"such as job {doubt.sample_job}, from {clock(night.window, doubt.first)} on"
        yield f"- **{plain(what)}**, {plain(since)}\\. {plain(said_of(doubt))}  "
        yield f"  {code(doubt.command)}"


def _house(night: Night) -> Iterator[str]:
    yield "## House\\-keeping\n"
    for item in night.house:
        yield f"- {CHARACTERS[HOUSE_MARKS[item.state]]} {item.name}: {plain(item.text)}"
