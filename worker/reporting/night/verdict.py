"""The night in one sentence: one of four verdicts, with its reason.

Never "OK", never a percentage alone. What mends itself is said to do so.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from worker.claiming import held_back
from worker.claiming.held_back import HeldBack
from worker.database.client import Database, Row
from worker.queue import pause
from worker.recovery.live_runs import Life, RunState
from worker.reporting import deadline, judgement, outlook
from worker.reporting.judgement import STALL_SECONDS, Cause, Judgement, Level, Situation
from worker.reporting.night import failing
from worker.reporting.night.failing import Ended
from worker.reporting.night.model import Counts, GroupTotals, Measures, Usual, Verdict
from worker.reporting.night.window import Window
from worker.reporting.night.words import clean, clock, counted, share, span
from worker.reporting.outlook import Outlook

HELD_BACK_SECONDS = 1.0
# So many are told of in one sentence.
MOST_REASONS = 2
WAITING = "waiting for their time"


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
    if window.is_past:
        return _of_the_past(window, counts, usual, why)
    paused = pause.paused(db)
    held = held_back.count(db, seconds=HELD_BACK_SECONDS) if counts.left else []
    at_work = [run for run in window.runs if run.life is Life.ALIVE]
    held_jobs = judgement.held(held, window.runs)
    known = _outlook(db, at_work, counts, held_jobs)
    ended = Ended(counts.done, counts.failed)
    many = failing.warning(ended, failing.lately(db, window.now, counts.failed), _of(usual))
    judged = judgement.judge(
        Situation(
            window.now, window.runs, counts.left,
            not_now=held_jobs + counts.waiting, is_paused=paused is not None,
            # What was put right since is no reason to look.
            many_fail=bool(many) and bool(at_work or counts.failed),
            to_go=known.to_go,
            has_ended_lately=known.per_second > 0,
            eta_seconds=known.eta_seconds,
        )
    )  # fmt: skip
    if paused is not None:
        said = _of_a_pause(window, paused, counts)
    elif judged.cause is Cause.UNHEARD and judged.run is not None:
        said = f"Cannot tell: {_named(judged.run)} has been silent since "
        said += f"{clock(window, judged.run.heartbeat_at, seconds=True)}."
    elif at_work:
        said = _by_its_pace(window, counts, known, many, judged)
    else:
        said = _of_a_quiet_queue(window, counts, held, many, judged)
    return Verdict(judged.level, said, why)


def _outlook(db: Database, at_work: list[RunState], counts: Counts, held_jobs: int) -> Outlook:
    """Look ahead with what the runs' hearts know, or with the night's own counts before that."""
    known = outlook.outlook(db, at_work) if at_work else Outlook(0.0, {})
    if known.pending is not None:
        return known
    return replace(
        known, pending=counts.pending or 0, in_progress=counts.in_progress or 0,
        waiting=counts.waiting, held_back=held_jobs,
    )  # fmt: skip


def explain(window: Window, counts: Counts, measures: Measures, groups: GroupTotals) -> str:
    """Say in a few sentences what happened."""
    if not counts.jobs_in:
        return "No job ended, and none waits."
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


def _of_the_past(window: Window, counts: Counts, usual: Usual, why: str) -> Verdict:
    """Tell how a run ended: what became of its jobs since is another night's matter."""
    many = failing.are_many(Ended(counts.done, counts.failed), _of(usual))
    if window.run is not None and window.run.life is Life.GONE:
        said = f"{_named(window.run)} was killed at {clock(window, window.run.heartbeat_at)}"
        left = "" if counts.pending is not None else "; how many jobs were left then is not known"
        return Verdict(Level.LOOK, f"Look when you are up: {said}{left}.", why)
    if not counts.left:
        cause = Cause.MANY_FAIL if many else Cause.WELL
        level = Level.LOOK if many else Level.SLEEP
        return Verdict(level, _of_an_end(counts, Judgement(level, cause), ""), why)
    left = f"{counted(counts.left, 'job')} {'was' if counts.left == 1 else 'were'}"
    told = judgement.held_at_end(window.run) if window.run is not None else []
    held = sum(int(item["jobs"]) for item in told)
    said = f"{left} left at its end"
    if held + counts.waiting >= counts.left:
        items = [HeldBack("", each["reason"], int(each["jobs"])) for each in told]
        said = f"{left} {_held_by_reason(counts, items)}"
    return Verdict(Level.LOOK, f"Look when you are up: {said}.", why)


def _of_a_pause(window: Window, paused: Row, counts: Counts) -> str:
    who = clean(f"by {paused['set_by']}: {paused['reason']}")
    text = f"Look when you are up: paused since {clock(window, paused['set_at'])} {who}; "
    return text + f"{counted(counts.left, 'job')} wait for: launcher.py resume"


def _of_a_quiet_queue(
    window: Window, counts: Counts, held: list[HeldBack], many: str, judged: Judgement
) -> str:
    left = f"{counted(counts.left, 'job')} {'is' if counts.left == 1 else 'are'}"
    killed = ""
    if judged.run is not None:
        killed = f"{_named(judged.run)} was killed at {clock(window, judged.run.heartbeat_at)}"
    if judged.level is Level.GET_UP:
        who = f"{killed}, and {left} left" if killed else f"{left} left, and no run is at work"
        return f"Get up: {who}. Start one: launcher.py run"
    if judged.cause is Cause.HELD:
        reason = f"{left} {_held_by_reason(counts, held)}"
        return f"Look when you are up: {f'{killed}; ' if killed else ''}{reason}."
    if judged.cause is Cause.KILLED:
        return f"Look when you are up: {killed}, but nothing is left to do."
    return _of_an_end(counts, judged, many)


def _held_by_reason(counts: Counts, held: list[HeldBack]) -> str:
    """Say what holds back how many of the jobs that are left, the most first."""
    if not held:
        return f"left, {WAITING}"
    if held[0].jobs >= counts.left or held[0].or_more:
        return f"held back: {clean(held[0].reason)}"
    parts = [
        f"{item.jobs:,} held back, because {clean(item.reason)}" for item in held[:MOST_REASONS]
    ]
    if rest := sum(item.jobs for item in held[MOST_REASONS:]):
        parts.append(f"{rest:,} held back for other reasons")
    if counts.waiting:
        parts.append(f"{counts.waiting:,} {WAITING}")
    return f"left: {'; '.join(parts)}"


def _of_an_end(counts: Counts, judged: Judgement, many: str) -> str:
    jobs, ended = counts.jobs_in, Ended(counts.done, counts.failed)
    if not jobs:
        return "Nothing was to be done."
    if judged.cause is Cause.MANY_FAIL:
        if many.endswith("in the last hour have failed"):
            return f"Look when you are up: {many}."
        failed = share(counts.failed, ended.jobs)
        return f"Look when you are up: {failed} of {jobs:,} jobs failed."
    if counts.failed:
        return f"All {jobs:,} jobs are done or explained."
    return f"All {jobs:,} jobs are done." if jobs > 1 else "The one job is done."


def _by_its_pace(
    window: Window, counts: Counts, known: Outlook, many: str, judged: Judgement
) -> str:
    if judged.cause is Cause.STALLED:
        return (
            f"Get up: nothing has ended for {span(STALL_SECONDS)}, though "
            f"{counted(known.to_go or 0, 'job')} could. Look: launcher.py status"
        )
    so_far = f"{counts.jobs_in - counts.left:,} of {counts.jobs_in:,} jobs have ended"
    so_far = f"{many}; {so_far}" if many else so_far
    so_far = f"{_named(judged.run)} is gone; {so_far}" if judged.run is not None else so_far
    if known.eta_seconds is None:
        return f"{judged.level.value}: {so_far}, and it is too early to say when the rest has."
    at = clock(window, window.now + timedelta(seconds=known.eta_seconds))
    until = deadline.deadline(window.alive)
    if judged.cause is Cause.LATE and until is not None:
        text = f"Get up: {so_far}, but the rest takes until about {at}, and claiming stops at "
        return f"{text}{clock(window, until)}. More workers or a later --until would help."
    # What is held back is looked at again by itself; when the run ends, it is told what is left.
    held = f", without {counted(known.held_back, 'job')} held back" if known.held_back else ""
    return f"{judged.level.value}: {so_far}, the rest by about {at}{held}."


def _named(run: RunState) -> str:
    return f"run {run.run_id} on {run.host}"
