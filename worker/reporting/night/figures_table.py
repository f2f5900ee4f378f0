"""The night in figures, beside the median of the last nights: what every format shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from worker.reporting.charts.marks import Mark
from worker.reporting.night.model import Counts, Measures, Night
from worker.reporting.night.words import clock, counted, share, span, took

# From here on it is worse than usual, and marked.
WORSE = 1.5
SLOWER = 0.7
NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Line:
    """One figure, this night and usually; `is_worse` than usual is marked."""

    name: str
    this: str
    usual: str
    is_worse: bool = False
    mark: Mark | None = None


def sum_of(counts: Counts) -> str:
    """Write that every job is in exactly one figure."""
    parts = [f"{counts.done:,} done", f"{counts.failed:,} failed"]
    if counts.discarded:
        parts.append(f"{counts.discarded:,} discarded")
    if counts.pending is None:
        ended = counts.done + counts.failed + counts.discarded
        return f"{ended:,} ended = {' + '.join(parts)}; how many were left is not known"
    parts += [f"{counts.pending:,} pending", f"{counts.in_progress or 0:,} in progress"]
    return f"{counts.jobs_in:,} in = " + " + ".join(parts)


def change(night: Night) -> str:
    """Write how that came about: what was there, what came in, what is left."""
    counts, window = night.counts, night.window
    left = NOT_KNOWN if counts.pending is None else f"{counts.left:,}"
    there = ""
    if counts.pending is not None:
        there = f"{counts.carried_over:,} were there at {clock(window, window.start)}, "
    # What waits is said apart: it would not be done by looking longer.
    waiting = f" ({counts.waiting:,} of them wait for their time)" if counts.waiting else ""
    return f"{there}{counts.added:,} came in meanwhile; left: {left}{waiting}" + (
        f"; jobs have added {counted(night.follow_ups, 'job')}" if night.follow_ups else ""
    )


def failed(night: Night) -> str:
    """Write how many failed in how many groups, and how many of these are listed below."""
    totals = night.group_totals
    text = f"{night.counts.failed:,} in {counted(totals.groups, 'group')}"
    return f"{text}, the {len(night.listed)} largest of them below" if night.unlisted else text


def rest_of_failed(night: Night) -> str:
    """Write in a sentence where the jobs are that failed in no group below; may be empty."""
    elsewhere = night.other_failures - max(
        0, night.group_totals.jobs_muted - sum(each.jobs for each in night.groups if each.is_muted)
    )
    if elsewhere <= 0:
        return ""
    if night.unlisted:
        return f"{elsewhere:,} in {counted(night.unlisted, 'other group')} or in the archive"
    return f"{elsewhere:,} in the archive"


def lines(night: Night) -> list[Line]:
    """Give the figures in their order."""
    found = [*_jobs(night), *_pace(night)]
    if night.usual.nights:
        return found
    return [replace(line, usual="–", is_worse=False) for line in found]


def _jobs(night: Night) -> list[Line]:
    counts, usual = night.counts, night.usual.median
    ended, before = counts.done + counts.failed, usual.done + usual.failed
    is_more = bool(ended and before and counts.failed / ended > WORSE * usual.failed / before)
    failed, usually = share(counts.failed, ended), share(usual.failed, before)
    recovered = f"{night.measures.recovered:,.0f}"
    left = "–" if usual.left is None else f"{usual.left:,.0f}"
    # A run that was killed wrote down nothing.
    is_known = counts.pending is not None
    jobs_in = "–" if usual.left is None else f"{before + usual.left:,.0f}"
    return [
        Line("Jobs in", f"{counts.jobs_in:,}" if is_known else NOT_KNOWN, jobs_in),
        Line("Done", f"{counts.done:,}", f"{usual.done:,.0f}", mark=Mark.DONE),
        Line("Failed", failed, usually, is_more, Mark.FAILED),
        Line("Recovered by retry", recovered, f"{usual.recovered:,.0f}"),
        Line("Still pending, in progress", f"{counts.left:,}" if is_known else NOT_KNOWN, left),
    ]


def _pace(night: Night) -> list[Line]:
    now, usual = night.measures, night.usual.median
    is_slower = (now.per_minute or 0) < SLOWER * (usual.per_minute or 0)
    is_longer = (now.p95 or 0) > WORSE * (usual.p95 or now.p95 or 0)
    has_more_restarts = now.restarts > WORSE * usual.restarts + 1
    return [
        Line("Ready at", _ready(night, now.ready_after), _ready(night, usual.ready_after)),
        Line("Done per minute", _rate(now.per_minute), _rate(usual.per_minute), is_slower),
        Line("p50, p95", _times(now), _times(usual), is_longer),
        Line(
            "Worker restarts", f"{now.restarts:,.0f}", f"{usual.restarts:,.0f}", has_more_restarts
        ),
        Line("Outages", _outages(now), _outages(usual), now.outages > usual.outages),
    ]


def heading(night: Night) -> str:
    """Name the column of what is usual."""
    nights = night.usual.nights
    return f"{nights}-night median" if nights > 1 else "Night before"


def _ready(night: Night, seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return clock(night.window, night.window.start + timedelta(seconds=seconds))


def _rate(per_minute: float | None) -> str:
    if per_minute is None:
        return "–"
    return f"{per_minute:,.0f}" if per_minute >= 10 else f"{per_minute:.1f}"


def _times(measures: Measures) -> str:
    return f"{took(measures.p50)}, {took(measures.p95)}"


def _outages(measures: Measures) -> str:
    if not measures.outages:
        return "0"
    return f"{measures.outages:,.0f}, {span(measures.outage_seconds)}"
