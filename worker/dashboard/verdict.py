"""The verdict in words: may the reader go back to sleep, and why? One of four, then a reason.

“Go back to sleep.” · “Look when you are up.” · “Get up: …” · “Cannot tell.”
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from worker.dashboard.overview import Now
from worker.dashboard.wording import Clock, about, counted
from worker.recovery.live_runs import RunState
from worker.reporting.charts.marks import Mark
from worker.reporting.judgement import STALL_SECONDS, Cause, Judgement, Level

# Figures that are older than this tell nothing about now.
OLD_SECONDS = 60.0
SLEEP, LOOK = "Go back to sleep.", "Look when you are up."


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to say, with its mark; `command` is what to type, where something is to be done."""

    mark: Mark
    label: str
    title: str
    say: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One of the reasons beside it; `link` names a page."""

    mark: Mark
    label: str
    bold: str
    rest: str
    link: str = ""


def judge(now: Now, clock: Clock) -> Verdict:
    """Say what whoever looks at 2 a.m. must know."""
    if (now.at - now.facts.at).total_seconds() > OLD_SECONDS:
        said = f"The queue was last counted at {clock.second(now.facts.at)}; since then that takes "
        said += "too long, or the database refuses. Below is what was known then."
        return Verdict(Mark.LOOK, "Cannot tell", "Cannot tell.", said, "launcher.py status")
    judged = now.judgement
    if now.paused is not None:
        who, why = now.paused["set_by"], now.paused["reason"]
        said = f"Paused since {clock.hour(now.paused['set_at'])} by {who}: “{why}”. "
        said += f"{counted(now.left, 'job')} wait until somebody resumes."
        return Verdict(Mark.PAUSED, "Paused", LOOK, said, "launcher.py resume")
    if judged.cause is Cause.UNHEARD and judged.run is not None:
        return _of_the_unheard(now, judged.run, clock)
    if now.alive:
        return _of_a_run(now, judged, clock)
    if judged.run is not None:
        return _of_the_killed(now, judged.run, judged.level, clock)
    return _of_a_quiet_queue(now, judged, clock)


def _of_a_run(now: Now, judged: Judgement, clock: Clock) -> Verdict:
    if judged.cause is Cause.STALLED:
        quiet = now.last_end_seconds
        since = "in this time" if quiet is None else f"for {about(quiet)}"
        return Verdict(
            Mark.FAILED, "Needs you now", f"Get up: nothing has finished {since}.",
            f"{counted(now.to_go, 'job')} could run, and the workers are alive. "
            f"See what they are at, below; then why one of the jobs waits.",
            "launcher.py status",
        )  # fmt: skip
    if judged.cause is Cause.LATE and now.ready_at is not None and now.deadline is not None:
        return _of_a_late_run(now.ready_at, now.deadline, now.to_go, clock)
    said = _how_far(now, clock)
    if judged.run is not None:
        said += f" Run {judged.run.run_id} on {judged.run.host} is gone."
    if many := now.facts.failing:
        said = f"{many[0].upper()}{many[1:]}. {said}"
    if judged.level is Level.SLEEP:
        return Verdict(Mark.DONE, "All is well", SLEEP, said)
    return Verdict(Mark.LOOK, "Needs a look", LOOK, said)


def _how_far(now: Now, clock: Clock) -> str:
    said = f"{now.counts['done']:,} of {sum(now.counts.values()):,} jobs are done"
    if now.ready_at is not None:
        said += f" and the rest will be ready at {clock.hour(now.ready_at)}"
        spare = 0.0 if now.deadline is None else (now.deadline - now.ready_at).total_seconds()
        said += f", {about(spare)} before {clock.hour(now.deadline)}." if spare > 60 else "."
    elif now.to_go:
        said += f"; {counted(now.to_go, 'job')} to go, and it is too early to say when."
    else:
        said += "; nothing is left that could run now."
    if now.held_jobs:
        said += f" {counted(now.held_jobs, 'job')} are held back; see why below."
    return said


def _of_a_late_run(ready_at: datetime, deadline: datetime, to_go: int, clock: Clock) -> Verdict:
    late = about((ready_at - deadline).total_seconds())
    return Verdict(
        Mark.FAILED, "Needs you now", f"Get up: it will not be ready by {clock.hour(deadline)}.",
        f"At this pace the rest, {counted(to_go, 'job')}, takes until {clock.hour(ready_at)}: "
        f"{late} too long. What is left then stays pending for the next run, and nothing is lost. "
        f"For more tonight, start it again with more workers or a later time.",
        "launcher.py run --workers … --until …",
    )  # fmt: skip


def _of_the_unheard(now: Now, run: RunState, clock: Clock) -> Verdict:
    said = f"There is no word from run {run.run_id} on {run.host} since "
    said += f"{clock.second(run.heartbeat_at)}: it is dead, or cannot reach the database. "
    others = [each for each in now.alive if each.run_id != run.run_id]
    said += f"{counted(len(others), 'other run')} at work. " if others else ""
    said += f"{_left(now)}."
    return Verdict(Mark.LOOK, "Cannot tell", "Cannot tell.", said)


def _of_the_killed(now: Now, run: RunState, level: Level, clock: Clock) -> Verdict:
    name = f"run {run.run_id} on {run.host}"
    since = clock.second(run.heartbeat_at)
    if level is Level.GET_UP:
        return Verdict(
            Mark.FAILED, "Needs you now", f"Get up: {name} was killed.",
            f"Its last sign of life was at {since}, and {_left(now)}. "
            f"Nothing is lost: start it again, and it puts right what was in progress.",
            "launcher.py run",
        )  # fmt: skip
    rest = "nothing is left to do"
    if now.left:
        rest = f"{_left(now)}, held back or waiting for a time"
    said = f"{name.capitalize()} was killed at {since}, but {rest}."
    return Verdict(Mark.LOOK, "Needs a look", LOOK, said)


def _of_a_quiet_queue(now: Now, judged: Judgement, clock: Clock) -> Verdict:
    failed, groups = now.facts.failed, len(now.facts.shown_groups)
    ended = ""
    if now.latest is not None and now.latest.over_at is not None:
        ended = f" Run {now.latest.run_id} ended at {clock.hour(now.latest.over_at)}"
        ended += f": {now.latest.ending}."
    if judged.cause is Cause.LEFT:
        return Verdict(
            Mark.FAILED, "Needs you now", f"Get up: {_left(now)} and nothing is running.",
            f"Nothing is lost: start a run, and it goes on.{ended}", "launcher.py run",
        )  # fmt: skip
    if judged.cause is Cause.HELD:
        said = f"{_left(now)} and nothing is running, but all of that is held back or waits for "
        said += f"its time; see why below.{ended}"
        return Verdict(Mark.LOOK, "Needs a look", LOOK, said)
    if failed:
        said = f"Nothing is left to do. {counted(failed, 'job')} failed, in "
        said += f"{counted(groups, 'group')}.{ended}"
        if judged.level is Level.LOOK:
            return Verdict(Mark.LOOK, "For the morning", LOOK, said)
        return Verdict(Mark.DONE, "All is well", SLEEP, said)
    if not sum(now.counts.values()):
        said = "The queue is empty: no job has been added yet."
        return Verdict(Mark.DONE, "All is well", SLEEP, said, "launcher.py enqueue URL")
    return Verdict(Mark.DONE, "All is well", SLEEP, f"Everything is done, nothing failed.{ended}")


def _left(now: Now) -> str:
    return f"{counted(now.left, 'job')} {'is' if now.left == 1 else 'are'} left"


def reasons(now: Now, clock: Clock, answer_ms: float) -> list[Fact]:
    """List what the verdict rests on."""
    facts = [_workers(now), _database(now, clock, answer_ms)]
    if (things := len(now.facts.duties)) > 0:
        said = f"{counted(things, 'thing')} wait{'s' * (things == 1)}; see below"
        facts.append(Fact(Mark.LOOK, "for the morning", "For a person:", said))
    quiet = now.last_failure_seconds
    if quiet is None:
        facts.append(Fact(Mark.DONE, "well", "No failure", f"since {clock.hour(now.known_since)}"))
    elif quiet > STALL_SECONDS:
        facts.append(Fact(Mark.DONE, "well", "No new failure", f"for {about(quiet)}"))
    else:
        facts.append(Fact(Mark.LOOK, "look", "A job failed", f"{about(quiet)} ago", "errors.page"))
    if now.facts.failed:
        said = _failures(now)
        facts.append(Fact(Mark.LOOK, "for the morning", "For the morning:", said, "errors.page"))
    return facts


def _failures(now: Now) -> str:
    """Say how many failed this night, as the report does; before that, how many are left."""
    facts = now.facts
    if not facts.failed_tonight:
        groups = counted(len(facts.shown_groups), "group")
        return f"{facts.failed:,} failed in {groups} before this night"
    groups = counted(sum(group.tonight > 0 for group in facts.shown_groups), "group")
    new = f", {now.new_groups} NEW" if now.new_groups else ""
    before = facts.failed - facts.failed_tonight
    earlier = f"; {before:,} before this night" if before else ""
    return f"{facts.failed_tonight:,} failed in {groups}{new}{earlier}"


def _workers(now: Now) -> Fact:
    working = [worker for worker in now.workers if not worker.is_dead]
    wanted = now.expected_workers
    if now.dead:
        killed = sum(len(run.slots) for run in now.dead)
        said = f"of run {now.dead[0].run_id}; {counted(len(working), 'worker')} alive"
        return Fact(Mark.FAILED, "dead", f"{counted(killed, 'worker')} dead", said, "workers.page")
    if not wanted:
        return Fact(Mark.WAITING, "idle", "Nothing is running", "")
    up = sum(worker.is_up or worker.has_finished for worker in working)
    rest = ""
    if (quiet := now.last_end_seconds) is not None:
        rest = ", a job ended this minute" if quiet < 60 else f", last end {about(quiet)} ago"
    if starting := now.starting_workers:
        some = f"{up} of {wanted} workers alive, " if up else ""
        said = f"{some}{counted(starting, 'worker')} starting"
        return Fact(Mark.WAITING, "starting", said, rest)
    is_well = up == wanted or not working
    mark = Mark.DONE if is_well else Mark.LOOK
    return Fact(mark, "well" if is_well else "look", f"{up} of {wanted} workers alive", rest)


def _database(now: Now, clock: Clock, answer_ms: float) -> Fact:
    away = [
        event
        for event in now.facts.events
        if event.kind.value == "outage" and event.ended_at and event.began_at >= now.since
    ]
    rest = f"in {max(answer_ms, 0.1):.1f} ms"
    if away:
        last = away[-1]
        seconds = (last.ended_at - last.began_at).total_seconds() if last.ended_at else 0
        rest += f"; was away {about(seconds)} at {clock.hour(last.began_at)}"
    return Fact(Mark.DONE, "well", "Database answers", rest)
