"""The picture of a night, and the same in words."""

from __future__ import annotations

from worker.reporting.charts.bands import Band, Shade
from worker.reporting.charts.time_axis import TimeAxis
from worker.reporting.charts.timeline import Cell, LaneChart, Moment, Row
from worker.reporting.events import Kind
from worker.reporting.lanes import Lane
from worker.reporting.night.interruptions import lasted
from worker.reporting.night.model import Interruption, Night
from worker.reporting.night.words import clean, clock, counted, span

MOST_LANES = 32
# Sentences of one kind; the rest is told by its number.
MOST_SAID = 6
# Shorter things are told by how long they lasted, not by their end.
SHORT_SECONDS = 120
_SHADES = {"pause": Shade.PAUSE, "outage": Shade.OUTAGE, "breaker": Shade.BREAKER}


def lane_chart(night: Night) -> LaneChart:
    """Put a night into a chart's terms."""
    window = night.window
    axis = TimeAxis.around(window.start, window.end, window.zone)
    shown = night.lanes[:MOST_LANES]
    hosts = {lane.host for lane in shown}
    bands = [
        Band(_SHADES[each.kind], each.start, each.end or window.end, _short(each, night))
        for each in night.interruptions
        if each.kind in _SHADES
    ]
    begin, end = clock(window, axis.start), clock(window, axis.end)
    over = [run.over_at for run in window.runs if run.over_at is not None]
    ended = None
    if over and not window.alive:
        ended = Moment(min(max(over), axis.end), window.runs[0].ending.partition(" ")[0])
    return LaneChart(
        axis,
        night.column_seconds,
        [_row(lane, night, len(hosts) > 1) for lane in shown],
        f"{counted(len(shown), 'worker')} from {begin} to {end}",
        " ".join(said(night)) + " The same in words below.",
        bands,
        ended,
        "night",
    )


def said(night: Night) -> list[str]:
    """Tell in sentences what the picture shows."""
    window = night.window
    sentences = ["Done above each line, tried again on top of it, failed below it."]
    if len(night.lanes) > MOST_LANES:
        rest = len(night.lanes) - MOST_LANES
        sentences.append(f"{counted(rest, 'more worker')} not drawn.")
    by_kind: dict[str, list[Interruption]] = {}
    for each in night.interruptions:
        by_kind.setdefault(each.kind, []).append(each)
    for kind, found in by_kind.items():
        if kind == "restart":
            sentences += _restarts(night, found)
            continue
        for each in found[:MOST_SAID]:
            text = f"{each.text[:1].upper()}{each.text[1:]}"
            until = f" to {clock(window, each.end)}" if each.end else ", and still"
            if each.end and lasted(each, window.end) < SHORT_SECONDS:
                until = f", {span(lasted(each, window.end))}"
            sentences.append(f"{text}, {clock(window, each.start)}{until}.")
        if len(found) > MOST_SAID:
            sentences.append(f"{len(found) - MOST_SAID:,} more of that kind.")
    return sentences


def _restarts(night: Night, found: list[Interruption]) -> list[str]:
    """Tell of the restarts by worker and reason: `Worker 3 restarted: memory, at 21:37, 23:55.`"""
    by_text: dict[str, list[str]] = {}
    for each in found:
        by_text.setdefault(each.text, []).append(clock(night.window, each.start))
    sentences = []
    for text, times in list(by_text.items())[:MOST_SAID]:
        more = f" and {len(times) - MOST_SAID} more times" if len(times) > MOST_SAID else ""
        line = f"{text[:1].upper()}{text[1:]}"
        sentences.append(f"{line}, at {', '.join(times[:MOST_SAID])}{more}.")
    if len(by_text) > MOST_SAID:
        rest = sum(len(times) for times in list(by_text.values())[MOST_SAID:])
        sentences.append(f"{counted(rest, 'more restart')}.")
    return sentences


def name_of_lane(lane: Lane, with_host: bool) -> str:
    """Name a lane by its slot, and by its host where there are several."""
    return f"{clean(lane.host, 40)} {lane.slot}" if with_host and lane.host else str(lane.slot)


def _row(lane: Lane, night: Night, with_host: bool) -> Row:
    done, again, failed = (
        sum(getattr(column, name) for column in lane.columns)
        for name in ("done", "again", "failed")
    )
    restarts = [
        Moment(life.began_at, f"{clock(night.window, life.began_at)} restarted")
        for life in lane.lives
        if life.kind is Kind.WORKER and life.restarts
    ]
    text = (
        f"Worker {name_of_lane(lane, True)}: {done:,} done, {again:,} tried again, "
        f"{failed:,} failed, {counted(len(restarts), 'restart')}"
    )
    cells = [Cell(each.start, each.done, each.again, each.failed) for each in lane.columns]
    return Row(str(lane.slot) if not with_host else _short_host(lane), text, cells, restarts)


def _short_host(lane: Lane) -> str:
    return f"{lane.host[-6:]} {lane.slot}" if lane.host else str(lane.slot)


def _short(each: Interruption, night: Night) -> str:
    words = {"pause": "paused", "outage": "database away", "breaker": "breaker open"}[each.kind]
    return f"{words} {span(lasted(each, night.window.end))}"
