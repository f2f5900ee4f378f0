"""A night's report for a terminal: eighty columns, nothing that a terminal obeys."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator

from worker.evidence.terminal_text import one_line
from worker.reporting.charts.marks import CHARACTERS, Mark
from worker.reporting.judgement import Level
from worker.reporting.lanes import Lane
from worker.reporting.night import figures_table, tables
from worker.reporting.night.duties import said_of
from worker.reporting.night.model import Group, Night
from worker.reporting.night.picture import MOST_LANES, name_of_lane, said
from worker.reporting.night.tables import Table
from worker.reporting.night.words import clock, day_and_clock, name_of, took
from worker.reporting.night.zone import zone_name

WIDTH = 80
LANE_COLUMNS = 64
_LEVELS = " ▁▂▃▄▅▆▇█"
LEVEL_MARKS = {
    Level.SLEEP: Mark.DONE,
    Level.LOOK: Mark.LOOK,
    Level.GET_UP: Mark.FAILED,
    Level.CANNOT_TELL: Mark.WAITING,
}
HOUSE_MARKS = {"ok": Mark.DONE, "look": Mark.LOOK, "held": Mark.HELD_BACK}


def text(night: Night) -> str:
    """Write the report."""
    parts: Iterable[Iterable[str]] = (
        _opening(night),
        _duties(night),
        _figures(night),
        _lanes(night),
        _hours(night),
        _groups(night),
        *(_table(table) for table in tables.of(night)),
        _slowest(night),
        _doubts(night),
        _house(night),
        _foot(night),
    )
    blocks = ["\n".join(map(one_line, lines)) for part in parts if (lines := list(part))]
    return "\n\n".join(blocks) + "\n"


def _wrapped(line: str, first: str = "", rest: str | None = None) -> list[str]:
    """Break a line at eighty columns; long words, such as addresses, are broken too."""
    rest = " " * len(first) if rest is None else rest
    return textwrap.wrap(
        one_line(line), WIDTH, initial_indent=first, subsequent_indent=rest
    ) or [first.rstrip()]  # fmt: skip


def _command(command: str, indent: str) -> list[str]:
    # Never broken: what is copied from here must run.
    return [f"{indent}{one_line(command)}"]


def _opening(night: Night) -> Iterator[str]:
    yield from _wrapped(f"Nightshift · {name_of(night.window)}")
    yield from _wrapped(
        night.verdict.sentence, f"{CHARACTERS[LEVEL_MARKS[night.verdict.level]]} ", "  "
    )
    yield from _wrapped(night.verdict.why, "  ")


def _duties(night: Night) -> Iterator[str]:
    if not night.duties:
        return
    yield f"{CHARACTERS[Mark.LOOK]} FOR THIS MORNING"
    for place, duty in enumerate(night.duties, 1):
        yield from _wrapped(f"{duty.what}: {duty.why}", f"{place:>3}. ")
        yield from _command(duty.command, " " * 7)
    if night.more_duties:
        yield f"     and {night.more_duties:,} more: launcher.py todo · launcher.py errors"


def _figures(night: Night) -> Iterator[str]:
    yield "IN FIGURES"
    yield from _wrapped(figures_table.sum_of(night.counts), "  ")
    yield from _wrapped(figures_table.change(night), "  ")
    yield f"  {'':28}{'This night':>18}{figures_table.heading(night):>20}"
    for line in figures_table.lines(night):
        worse = f"  {CHARACTERS[Mark.LOOK]}" if line.is_worse else ""
        mark = f"{CHARACTERS[line.mark]} " if line.mark else ""
        yield f"  {mark + line.name:28}{line.this:>18}{line.usual:>20}{worse}"


def _lanes(night: Night) -> Iterator[str]:
    if not night.lanes:
        return
    yield "THE NIGHT, ONE LANE PER WORKER"
    shown = night.lanes[:MOST_LANES]
    levels = [_levels(night, lane) for lane in shown]
    most = max((max(done) for done, _ in levels), default=0) or 1
    has_hosts = len({lane.host for lane in shown}) > 1
    for lane, (done, failed) in zip(shown, levels, strict=True):
        drawn = "".join(_LEVELS[-(-8 * count // most)] if count else "·" for count in done)
        yield f"  {name_of_lane(lane, has_hosts)[-12:]:>12} {drawn}"
        if any(failed):
            marks = "".join(CHARACTERS[Mark.FAILED] if count else " " for count in failed)
            yield f"  {'':12} {marks.rstrip()}"
    begin, end = (clock(night.window, each) for each in (night.window.start, night.window.end))
    width = len(levels[0][0])
    yield f"  {'':12} {begin}{end:>{max(width - len(begin), len(end) + 1)}}"
    yield from _wrapped(" ".join(["Done as bars, failed as ◆ below.", *said(night)[1:]]), "  ")


def _levels(night: Night, lane: Lane) -> tuple[list[int], list[int]]:
    """Add up what was done and what failed, as many whole columns together as it takes to fit."""
    window, seconds = night.window, night.column_seconds
    columns = max(1, math.ceil((window.end - window.start).total_seconds() / seconds) + 1)
    together = -(-columns // LANE_COLUMNS)
    done, failed = [0] * -(-columns // together), [0] * -(-columns // together)
    for column in lane.columns:
        passed = max(0.0, (column.start - window.start).total_seconds())
        place = min(len(done) - 1, int(passed / seconds + 0.5) // together)
        done[place] += column.done
        failed[place] += column.failed
    return done, failed


def _hours(night: Night) -> Iterator[str]:
    if not night.hours:
        return
    yield "PER HOUR"
    most = max(hour.done for hour in night.hours) or 1
    for hour in night.hours:
        bar = "█" * round(20 * hour.done / most)
        failed = f"{CHARACTERS[Mark.FAILED]} {hour.failed:,}" if hour.failed else "0"
        notes = "; ".join(hour.notes)
        line = f"  {clock(night.window, hour.start):>9} {bar:20}{hour.done:>9,}{failed:>9}"
        if len(line) + 2 + len(notes) <= WIDTH:
            yield f"{line}  {notes}".rstrip()
        else:
            yield line
            yield from _wrapped(notes, " " * 12)


def _groups(night: Night) -> Iterator[str]:
    if not night.counts.failed:
        return
    yield f"FAILED: {figures_table.failed(night)}"
    for group in night.listed:
        yield from _group(night, group)
    if muted := night.group_totals.jobs_muted:
        yield f"  {muted:,} in muted groups: launcher.py errors --all"
    if rest := figures_table.rest_of_failed(night):
        yield f"  {rest}" + ": launcher.py errors" * bool(night.unlisted)


def _group(night: Night, group: Group) -> Iterator[str]:
    new = " NEW" if group.is_new else ""
    yield from _wrapped(f"{group.jobs:,} × {group.title}{new}", f"  {CHARACTERS[Mark.FAILED]} ")
    evidence = f", {group.evidence}" if group.evidence else ""
    yield from _wrapped(about(night, group) + evidence, "    ")
    for sentence in filter(None, (group.last_good, group.hint)):
        yield from _wrapped(sentence, "    ")
    yield from _command(group.command, " " * 6)


def about(night: Night, group: Group) -> str:
    """Say where and when a group failed, and name one of its jobs."""
    sites = " to ".join(group.sites)
    first, last = (day_and_clock(night.window, each) for each in (group.first, group.last))
    when = first if first == last else f"{first} to {last}"
    return f"{f'{sites}, ' if sites else ''}{when}, such as job {group.sample_job}"


def _table(table: Table) -> Iterator[str]:
    yield table.title.upper()
    widths = [max(len(row[place]) for row in (table.heads, *table.rows)) for place in
              range(len(table.heads))]  # fmt: skip
    # The name takes what the figures leave.
    widths[0] = min(max(widths[0], 12), max(12, WIDTH - 2 - sum(width + 2 for width in widths[1:])))
    for row in (table.heads, *table.rows):
        name = row[0] if len(row[0]) <= widths[0] else row[0][: widths[0] - 1] + "…"
        cells = "".join(
            f"{cell:>{width + 2}}" for cell, width in zip(row[1:], widths[1:], strict=True)
        )
        yield f"  {name:{widths[0]}}{cells}"
    if table.note:
        yield from _wrapped(table.note, "  ")


def _slowest(night: Night) -> Iterator[str]:
    if not night.slowest:
        return
    yield "SLOWEST"
    yield f"  {'Task':28}{'Jobs':>9}{'p50':>11}{'p95':>11}{'Slowest, job':>19}"
    for each in night.slowest:
        job = "–"
        if each.slowest_job is not None:
            job = f"{took(each.slowest_seconds)}, {each.slowest_job}"
        yield (
            f"  {each.task[:27]:28}{each.jobs:>9,}{took(each.p50):>11}{took(each.p95):>11}{job:>19}"
        )


def _doubts(night: Night) -> Iterator[str]:
    if not night.doubts:
        return
    yield "DONE, BUT LOOK TWICE"
    for doubt in night.doubts:
        about_so_many = "about " if doubt.is_estimate else ""
        yield from _wrapped(
            f"{about_so_many}{doubt.count:,} of {doubt.of:,} results of {doubt.task}, such as job "
            f"{doubt.sample_job}, from {clock(night.window, doubt.first)} on. {said_of(doubt)}",
            f"  {CHARACTERS[Mark.LOOK]} ",
        )
        yield from _command(doubt.command, " " * 6)


def _house(night: Night) -> Iterator[str]:
    yield "HOUSE-KEEPING"
    for item in night.house:
        yield from _wrapped(
            item.text, f"  {item.name:10} {CHARACTERS[HOUSE_MARKS[item.state]]} ", " " * 15
        )


def _foot(night: Night) -> Iterator[str]:
    for note in night.notes:
        yield from _wrapped(note, f"{CHARACTERS[Mark.LOOK]} ")
    text, _, end = foot(night).partition(night.window.command)
    yield from _wrapped(f"{text.removesuffix(' by ')}{end} To have it again:")
    yield from _command(night.window.command, "  ")


def foot(night: Night) -> str:
    """Say whose time it is, and how to have this report again."""
    window = night.window
    written = f"{window.local(window.now):%H:%M:%S}"
    return (
        f"Times are {zone_name(window.zone, window.now)}. Written at {written} by "
        f"{window.command}, format 1."
    )
