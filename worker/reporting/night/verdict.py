"""The night in one sentence: one of four verdicts, with its reason.

Never "OK", never a percentage alone. What mends itself is said to do so.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from worker.database.client import Database
from worker.queue import pause
from worker.recovery.live_runs import Life
from worker.reporting import deadline, outlook
from worker.reporting.night import failing
from worker.reporting.night.failing import Ended
from worker.reporting.night.model import (
    Counts,
    GroupTotals,
    Level,
    Measures,
    Usual,
    Verdict,
)
from worker.reporting.night.window import Window
from worker.reporting.night.words import clean, clock, counted, share, span

# A live run's figures are as old as its last beat.
STALE_SECONDS = 60.0
STALLED_SECONDS = 900.0


def judge(
    db: Database,
    window: Window,
    counts: Counts,
    measures: Measures,
    usual: Usual,
    groups: GroupTotals,
) -> Verdict:
    """Say whether somebody has to do something, and why."""
    why = explain(window, counts, measures, groups)
    if window.alive and not window.is_past:
        return _while_it_goes_on(db, window, counts, usual, why)
    if not counts.jobs_in:
        return Verdict(Level.SLEEP, "Nothing was to be done.", "No job ended, and none waits.")
    if counts.left:
        return _with_jobs_left(window, counts, why)
    jobs = counts.jobs_in
    if failing.are_many(Ended(counts.done, counts.failed), _of(usual)):
        failed = share(counts.failed, counts.done + counts.failed)
        return Verdict(Level.LOOK, f"Look when you are up: {failed} of {jobs:,} jobs failed.", why)
    if counts.failed:
        return Verdict(Level.SLEEP, f"All {jobs:,} jobs are done or explained.", why)
    what = f"All {jobs:,} jobs are done." if jobs > 1 else "The one job is done."
    return Verdict(Level.SLEEP, what, why)


def explain(window: Window, counts: Counts, measures: Measures, groups: GroupTotals) -> str:
    """Say in a few sentences what happened."""
    text = f"{counts.done:,} {'was' if counts.done == 1 else 'were'} done"
    over = [run.over_at for run in window.runs if run.over_at is not None]
    if over and not window.alive:
        text += f" by {clock(window, max(over))}"
    if measures.recovered:
        text += f", {measures.recovered:,.0f} of them by retry"
    sentences = [text]
    if counts.failed:
        said = f"{counts.failed:,} failed in {counted(groups.groups, 'group')}"
        new = "one" if groups.new == 1 else f"{groups.new:,}"
        said += f", {new} of them NEW" if groups.new else ""
        sentences.append(said)
    if measures.outages:
        sentences.append(
            f"The database was away for {span(measures.outage_seconds)}; what was finished "
            "meanwhile was kept and written afterwards"
        )
    return ". ".join(sentences) + "."


def _of(usual: Usual) -> Ended:
    return Ended(usual.median.done, usual.median.failed)


def _with_jobs_left(window: Window, counts: Counts, why: str) -> Verdict:
    left = counted(counts.left, "job")
    singular, plural = ("was", "were") if window.is_past else ("is", "are")
    was = singular if counts.left == 1 else plural
    held = _held_back(window)
    if held:
        reason = f"{left} {was} held back: {held}"
        return Verdict(Level.LOOK, f"Look when you are up: {reason}.", why)
    if counts.waiting and counts.waiting >= counts.left:
        return Verdict(
            Level.LOOK, f"Look when you are up: {left} {was} left, waiting for their time.", why
        )
    if window.is_past:
        return Verdict(Level.LOOK, f"Look when you are up: {left} {was} left at its end.", why)
    return Verdict(
        Level.GET_UP,
        f"Get up: {left} {was} left, and no run is at work. Start one: launcher.py run",
        why,
    )


def _held_back(window: Window) -> str:
    """Tell why jobs are held back, as the last run that ended has written it down."""
    for run in window.runs:
        for item in (run.summary or {}).get("held_back") or ():
            return str(item.get("reason", ""))
        if run.summary is not None:
            return ""
    return ""


def _while_it_goes_on(
    db: Database, window: Window, counts: Counts, usual: Usual, why: str
) -> Verdict:
    silent = [run for run in window.alive if run.silent_seconds > STALE_SECONDS]
    if any(run.life is Life.SILENT for run in window.alive) or len(silent) == len(window.alive):
        run = max(window.alive, key=lambda each: each.silent_seconds)
        since = clock(window, run.heartbeat_at, seconds=True)
        text = f"Cannot tell: run {run.run_id} on {run.host} has been silent since {since}."
        return Verdict(Level.CANNOT_TELL, text, why)
    if (asked := pause.paused(db)) is not None:
        who = clean(f"by {asked['set_by']}: {asked['reason']}")
        text = f"Look when you are up: paused since {clock(window, asked['set_at'])} {who}; "
        text += f"{counted(counts.left, 'job')} wait for: launcher.py resume"
        return Verdict(Level.LOOK, text, why)
    return _by_its_pace(db, window, counts, usual, why)


def _by_its_pace(db: Database, window: Window, counts: Counts, usual: Usual, why: str) -> Verdict:
    known = outlook.outlook(db, window.alive)
    if not known.per_second and known.to_go and _is_old(window):
        return Verdict(
            Level.GET_UP,
            f"Get up: nothing has ended for {span(STALLED_SECONDS)}, though "
            f"{counted(known.to_go, 'job')} could. Look: launcher.py status",
            why,
        )
    so_far = f"{counts.jobs_in - counts.left:,} of {counts.jobs_in:,} jobs have ended"
    ended_tonight = Ended(counts.done, counts.failed)
    many = failing.warning(ended_tonight, failing.lately(db, window.now), _of(usual))
    so_far = f"{many}; {so_far}" if many else so_far
    ready = known.eta_seconds
    if ready is None:
        # At its beginning nobody knows more; later somebody should.
        level = Level.LOOK if many or _is_old(window) else Level.SLEEP
        text = f"{level.value}: {so_far}, and it is too early to say when the rest has."
        return Verdict(level, text, why)
    at = clock(window, window.now + timedelta(seconds=ready))
    until = deadline.deadline(window.alive)
    if until is not None and deadline.will_be_late(window.alive, ready, window.now):
        text = f"Get up: {so_far}, but the rest takes until about {at}, and claiming stops at "
        text += f"{clock(window, until)}. More workers or a later --until would help."
        return Verdict(Level.GET_UP, text, why)
    held = f", without {counted(known.held_back, 'job')} held back" if known.held_back else ""
    # What is held back is looked at again by itself; when the run ends, it is told what is left.
    level = Level.LOOK if many else Level.SLEEP
    return Verdict(level, f"{level.value}: {so_far}, the rest by about {at}{held}.", why)


def _is_old(window: Window) -> bool:
    began: datetime = min(run.started_at for run in window.alive)
    return (window.now - began).total_seconds() > STALLED_SECONDS
