"""The sections of the HTML report. Tables have widths and alignments of their own, for mail."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from worker.evidence.pictures import FAILURE, LAST_GOOD, Picture
from worker.reporting.charts import timeline
from worker.reporting.charts.marks import CHARACTERS, COLOURS, Mark
from worker.reporting.charts.svg import words
from worker.reporting.night import figures_table, tables
from worker.reporting.night.as_text import HOUSE_MARKS, about
from worker.reporting.night.duties import said_of
from worker.reporting.night.model import Group, Hour, Night
from worker.reporting.night.picture import lane_chart, said
from worker.reporting.night.tables import Table
from worker.reporting.night.words import clock, took

NUMBER = 'class="num" align="right"'
FILL = "#6aa88a"
# Longer values may be broken anywhere: a phone is narrow.
_TICKED = re.compile(r"`([^`]+)`")
_OPTION = re.compile(r"(--[a-z-]{1,20} [^\s<>]{1,20})(?!\S)")


def mark(which: Mark) -> str:
    """Give a mark as a character: mail clients draw no symbols."""
    return f'<span class="{COLOURS.get(which, "faint")}">{CHARACTERS[which]}</span>'


def code(command: str) -> str:
    """Write a command that breaks, if it must, between its options and not within one."""
    whole = _OPTION.sub(r'<span class="nb">\1</span>', words(command))
    return f"<code>{whole}</code>"


def _ticked(text: str) -> str:
    return _TICKED.sub(r"<code>\1</code>", words(text))


def duties(night: Night) -> str:
    """What a person does this morning."""
    if not night.duties:
        return ""
    items = "".join(
        f"<li><b>{words(duty.what)}:</b> {words(duty.why)}<br>{code(duty.command)}</li>\n"
        for duty in night.duties
    )
    more = ""
    if night.more_duties:
        more = (
            f'<p class="faint">And {night.more_duties:,} more: <code>launcher.py todo</code>, '
            "<code>launcher.py errors</code></p>\n"
        )
    return (
        f'<div class="todo">\n<h2>{mark(Mark.LOOK)} For this morning</h2>\n<ol>\n{items}</ol>\n'
        f"{more}</div>\n"
    )


def figures(night: Night) -> str:
    """Every job in one figure, beside what is usual."""
    rows = ""
    for line in figures_table.lines(night):
        shown = f"{mark(line.mark)} " if line.mark else ""
        worse = ""
        if line.is_worse:
            worse = f'<span role="img" aria-label="worse than usual">{CHARACTERS[Mark.LOOK]}</span>'
        rows += (
            f'<tr><th scope="row" align="left">{shown}{line.name}</th>'
            f"<td {NUMBER}><b>{words(line.this)}</b></td>"
            f'<td class="num faint" align="right">{words(line.usual)}</td>'
            f'<td class="warn" width="14">{worse}</td></tr>\n'
        )
    return _section(
        "In figures",
        f'<p class="faint">{words(figures_table.sum_of(night.counts))}<br>'
        f"{words(figures_table.change(night))}</p>\n"
        f'<table class="t" width="100%"><thead><tr><td></td><th {NUMBER} scope="col">This night'
        f'</th><th {NUMBER} scope="col">{figures_table.heading(night)}</th><td></td></tr></thead>\n'
        f"<tbody>{rows}</tbody></table>\n",
    )


def lanes(night: Night) -> str:
    """The picture, and the same in words."""
    if not night.lanes:
        return ""
    chart = lane_chart(night)
    margin = max(14, 8 * max(len(row.name) for row in chart.rows))
    names = timeline.names(chart).replace("<svg ", f'<svg width="{margin}" ', 1)
    return _section(
        "The night, one lane per worker",
        '<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr>'
        f'<td width="{margin}" valign="top">{names}</td><td valign="top">{timeline.draw(chart)}'
        f'</td></tr></table>\n<p class="faint caption">{words(" ".join(said(night)))}</p>\n',
    )


def hours(night: Night) -> str:
    """Done and failed, hour by hour."""
    if not night.hours:
        return ""
    most = max(hour.done for hour in night.hours) or 1
    rows = "".join(_hour(night, hour, most) for hour in night.hours)
    return _section(
        "Per hour",
        '<table class="t" width="100%"><thead><tr><th align="left" scope="col">From</th><td></td>'
        f'<th {NUMBER} scope="col">Done</th><th {NUMBER} scope="col">Failed</th>'
        f'<td class="note"></td></tr></thead>\n<tbody>{rows}</tbody></table>\n',
    )


def _hour(night: Night, hour: Hour, most: int) -> str:
    failed = f'<td class="num faint" align="right">{hour.failed:,}</td>'
    if hour.failed:
        failed = (
            f'<td class="num bad" align="right">{CHARACTERS[Mark.FAILED]}&nbsp;{hour.failed:,}</td>'
        )
    bar = ""
    if hour.done:
        width = max(1, round(100 * hour.done / most))
        bar = (
            f'<table role="presentation" class="bar" width="{width}%" cellpadding="0" '
            f'cellspacing="0"><tr><td class="fill" bgcolor="{FILL}" height="10"></td></tr></table>'
        )
    return (
        f'<tr><td class="h">{clock(night.window, hour.start)}</td>'
        f'<td class="barcell" width="45%">{bar}</td>'
        f"<td {NUMBER}>{hour.done:,}</td>{failed}"
        f'<td class="faint note">{words("; ".join(hour.notes))}</td></tr>\n'
    )


def groups(night: Night) -> str:
    """What failed, with a picture where there is one, and the command for it."""
    if not night.counts.failed:
        return ""
    shown = "".join(_group(night, group) for group in night.listed)
    rest = ""
    if muted := night.group_totals.jobs_muted:
        rest += (
            f'<p class="faint">{muted:,} in muted groups: <code>launcher.py errors --all</code></p>'
        )
    if others := figures_table.rest_of_failed(night):
        where = ": <code>launcher.py errors</code>" if night.unlisted else ""
        rest += f'<p class="faint">{others}{where}</p>'
    return f"<h2>Failed: {figures_table.failed(night)}</h2>\n{shown}{rest}\n"


def _group(night: Night, group: Group) -> str:
    picture = pair = ""
    if group.picture is not None:
        picture = _picture(
            group.picture, f"Job {group.sample_job}, its page when it failed", FAILURE
        )
    if group.picture is not None and group.good_picture is not None:
        good = _picture(group.good_picture, "The last good page of its task and site", LAST_GOOD)
        told = f"The page then, and when job {group.sample_job} failed:"
        pair, picture = f'<p class="pair faint">{told}<br>{good} {picture}</p>\n', ""
    elif picture:
        picture = f'<td class="pic" width="150" valign="top">{picture}</td>\n'
    new = ' <span class="new">NEW</span>' if group.is_new else ""
    hint = "".join(f"<p>{_ticked(text)}</p>\n" for text in (group.last_good, group.hint) if text)
    return (
        '<table role="presentation" class="grp" width="100%" cellpadding="0" cellspacing="0"><tr>\n'
        f'{picture}<td class="any" valign="top"><h3>{mark(Mark.FAILED)} {group.jobs:,} × '
        f"{words(group.title)}{new}</h3>\n"
        f'<p class="faint">{words(about(night, group))}</p>\n{hint}{pair}'
        f'<p class="cmd">{code(group.command)}</p></td></tr></table>\n'
    )


def _picture(content: bytes, what: str, kind: Picture) -> str:
    data = base64.b64encode(content).decode("ascii")
    return (
        f'<img class="shot" width="150" height="94" alt="{what}" '
        f'src="data:{kind.media_type};base64,{data}">'
    )


def belongings(night: Night) -> str:
    """Queues, where there is more than one, and batches."""
    return "".join(_table(table) for table in tables.of(night))


def _table(table: Table) -> str:
    note = f'<p class="faint">{words(table.note)}</p>\n' if table.note else ""
    if not table.rows:
        return _section(table.title, note)
    heads = "".join(f'<th {NUMBER} scope="col">{head}</th>' for head in table.heads[1:])
    rows = "".join(_row(f'<td class="any">{words(row[0])}</td>', row[1:]) for row in table.rows)
    return _section(
        table.title,
        f'<table class="t" width="100%"><thead><tr><th align="left" scope="col">{table.heads[0]}'
        f"</th>{heads}</tr></thead>\n<tbody>{rows}</tbody></table>\n{note}",
    )


def slowest(night: Night) -> str:
    """The tasks that took longest."""
    rows = ""
    for each in night.slowest:
        job = "–"
        if each.slowest_job is not None:
            job = f"{took(each.slowest_seconds)}, {each.slowest_job}"
        rows += _row(
            f'<td class="any">{words(each.task)}</td>',
            (f"{each.jobs:,}", took(each.p50), took(each.p95), job),
        )
    if not rows:
        return ""
    heads = "".join(
        f'<th {NUMBER} scope="col">{name}</th>' for name in ("Jobs", "p50", "p95", "Slowest, job")
    )
    return _section(
        "Slowest",
        '<table class="t" width="100%"><thead><tr><th align="left" scope="col">Task</th>'
        f"{heads}</tr></thead>\n<tbody>{rows}</tbody></table>\n",
    )


def doubts(night: Night) -> str:
    """Results that are worth a second look."""
    items = ""
    for doubt in night.doubts:
        about_so_many = "About " if doubt.is_estimate else ""
        what = f"{about_so_many}{doubt.count:,} of {doubt.of:,} results of {doubt.task}"
        since = f"such as job {doubt.sample_job}, from {clock(night.window, doubt.first)} on."
        items += (
            f"<p>{mark(Mark.LOOK)} <b>{words(what)}</b>, {words(since)} {words(said_of(doubt))}<br>"
            f"{code(doubt.command)}</p>\n"
        )
    return _section("Done, but look twice", items) if items else ""


def house(night: Night) -> str:
    """Proxies, profiles, webhooks, disk."""
    rows = "".join(
        f'<tr><th class="h" scope="row" align="left">{item.name}</th>'
        f'<td class="any">{mark(HOUSE_MARKS[item.state])} {words(item.text)}</td></tr>\n'
        for item in night.house
    )
    return _section("House-keeping", f'<table class="t" width="100%"><tbody>{rows}</tbody></table>')


def _row(first: str, cells: Sequence[str]) -> str:
    return (
        "<tr>" + first + "".join(f"<td {NUMBER}>{words(cell)}</td>" for cell in cells) + "</tr>\n"
    )


def _section(title: str, inside: str) -> str:
    return f'<div class="keep">\n<h2>{title}</h2>\n{inside}</div>\n'
