"""`launcher.py status`: the queue, the runs at work, how long the rest takes, what is held back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import click

from worker.cli.connection import open_database
from worker.cli.options import json_flag
from worker.cli.output import tell_all, tell_json
from worker.cli.schedule_line import schedule_line
from worker.cli.wording import counted, duration, moment, on_host
from worker.database.client import Row
from worker.installation import command_line
from worker.models import DEFAULT_QUEUE, Status
from worker.recovery.live_runs import Life, RunState
from worker.reporting.outlook import RATE_SECONDS
from worker.reporting.queues import QueueCount
from worker.reporting.standing import Standing, standing

MAX_REASONS = 10


@click.command("status")
@json_flag
def status(as_json: bool) -> None:
    """Show how many jobs are in each status, what is running, and how long the rest takes."""
    with closing(open_database()) as db:
        now = standing(db)
    if as_json:
        tell_json(now.as_json())
        return
    tell_all(status_lines(now))


def status_lines(now: Standing) -> Iterator[str]:
    """Write how everything stands, a fact a line."""
    total = sum(now.jobs.values())
    yield f"{counted(total, 'job')}: " + ", ".join(f"{n:,} {name}" for name, n in now.jobs.items())
    if (paused := now.paused) is not None:
        yield (
            f"PAUSED since {moment(paused['set_at'])} by {paused['set_by']}: {paused['reason']}; "
            f"continue with: launcher.py resume"
        )
    yield from (_queue_line(item) for item in now.queues)
    yield from (_batch_line(item) for item in now.batches)
    yield from (schedule_line(item) for item in now.schedules)
    if now.follow_ups:
        yield f"follow-ups: {counted(now.follow_ups, 'job')} of the queue were added by jobs"
    if now.waiting:
        due = now.next_due_seconds
        when = f"in {duration(due)}" if due > 0 else "now"
        yield f"waiting for their time: {counted(now.waiting, 'pending job')}, next {when}"
    if now.profiles or now.accounts_paused:
        yield _profile_line(now.profiles, now.accounts_paused)
    if now.checkouts_overdue:
        yield f"OVERDUE: {counted(now.checkouts_overdue, 'checkout')}; see: launcher.py todo"
    yield from _held_lines(now)
    yield from (run_line(run, now.rates.get(run.run_id, 0.0)) for run in now.told)
    if (outlook := outlook_line(now)) is not None:
        yield outlook
    for row in now.in_progress:
        yield (
            f"  worker {row['worker_id']}{on_host(row['host'])}: "
            f"job {row['id']} ({row['task']}), attempt {row['attempts']}, "
            f"for {duration(float(row['age_seconds']))}{_parent(row)}"
            + (f"  GONE: {row['gone']}; {_fate(row)}: launcher.py sweep" if row["gone"] else "")
        )
    if not now.told and now.latest_run is not None:
        killed = [run.run_id for run in now.runs if run.life is Life.GONE]
        yield _latest_line(now.latest_run, is_killed=now.latest_run["id"] in killed)


def _parent(row: Row) -> str:
    """Name the job that has added this one, if one has."""
    if row["parent_id"] is None:
        return ""
    return f", added by job {row['parent_id']} (depth {row['depth']})"


def _fate(row: Row) -> str:
    return "put it back" if row["becomes"] == Status.PENDING else "end it as an error"


def run_line(run: RunState, per_second: float) -> str:
    """Say of a run that has recorded no end where it works and how fast, or that it is dead."""
    name = f"run {run.run_id} on {run.host}"
    silent = duration(run.silent_seconds)
    if run.life is Life.GONE:
        return (
            f"{name}: DEAD: its launcher (pid {run.pid}) was killed, last heartbeat {silent} ago; "
            f"put its jobs back: launcher.py sweep"
        )
    if run.life is Life.SILENT:
        return (
            f"{name}: SILENT for {silent}: dead, or it cannot reach the database; "
            f"its jobs come back when their leases end"
        )
    since = f"since {moment(run.started_at)}"
    has_others = run.queues != (DEFAULT_QUEUE,)
    works = f", queue{'s' * (len(run.queues) != 1)} {', '.join(run.queues)}" if has_others else ""
    return f"{name}: {slots(run)}{works}, {since}, {per_second:.1f} jobs/s"


def slots(run: RunState) -> str:
    """Say which slots a run has: `worker 2 of 6`, `workers 0–5 of 6`."""
    if not run.slots:
        return "no slot yet"
    return f"worker{'s' * (len(run.slots) != 1)} {run.slot_names} of {run.total}"


def outlook_line(now: Standing) -> str | None:
    """Say how long the rest takes, and what is not in that."""
    if not now.alive or not now.outlook.to_go:
        return None
    without = [f"{now.held:,} held back"] if now.held else []
    without += [f"{now.waiting:,} that wait for their time"] if now.waiting else []
    left = counted(now.outlook.to_go, "job") + (
        f", without {' and '.join(without)}" if without else ""
    )
    if (eta := now.outlook.eta_seconds) is None:
        whose = "this run" if len(now.alive) == 1 else "these runs"
        lately = f"in {whose} in the last {RATE_SECONDS / 60:.0f} minutes"
        return f"time to go: unknown, nothing has ended {lately}; {left}"
    return f"about {duration(eta)} to go: {left}"


def _queue_line(item: QueueCount) -> str:
    paused = ""
    if item.paused is not None:
        paused = (
            f"; PAUSED by {item.paused['set_by']}: {item.paused['reason']}; "
            f"continue with: {command_line('resume', '--queue', item.name)}"
        )
    more = " or more" * item.or_more
    return (
        f"queue {item.name}: {item.ready:,}{more} ready, {item.in_progress:,} in progress{paused}"
    )


def _batch_line(item: Row) -> str:
    if item["finished_at"] is not None:
        cancelled = f", {item['cancelled']:,} cancelled" if item["cancelled"] else ""
        return (
            f"batch {item['name']}: finished {moment(item['finished_at'])}: "
            f"{item['done']:,} done, {item['failed']:,} failed{cancelled}"
        )
    so_far = item["so_far"]
    more = " or more" if so_far.get("or_more") else ""
    return (
        f"batch {item['name']}: {so_far['unfinished']:,}{more} to go, "
        f"{so_far['done']:,} done, {so_far['failed']:,} failed"
    )


def _held_lines(now: Standing) -> Iterator[str]:
    """Say what is held back and why; what is closed and holds nothing back is told elsewhere."""
    opening = {closure.key: closure.seconds for closure in now.closed}
    for item in now.held_back[:MAX_REASONS]:
        number = f"{item.jobs:,} {'or more ' * item.or_more}job{'s' * (item.jobs != 1)}"
        yield f"held back: {number}: {item.reason}{_opens(opening.get(item.key))}"
    if rest := now.held_back[MAX_REASONS:]:
        jobs = counted(sum(item.jobs for item in rest), "job")
        yield f"held back: {jobs}: {counted(len(rest), 'other reason')}; ask: launcher.py why ID"


def _opens(seconds: float | None) -> str:
    return "" if seconds is None else f" (next check in {duration(max(0.0, seconds))})"


def _profile_line(profiles: dict[str, int], accounts_paused: int) -> str:
    states = ", ".join(f"{number:,} {state}" for state, number in profiles.items())
    paused = f"{counted(accounts_paused, 'account')} paused"
    return f"profiles: {states or 'none'}" + (f"; {paused}" if accounts_paused else "")


def _latest_line(run: Row, *, is_killed: bool) -> str:
    line = f"nothing is running; latest run: {run['id']} on {run['host']}"
    if run["ended_at"]:
        return f"{line}, ended {moment(run['ended_at'])}"
    return f"{line}{', killed' * is_killed}, last heartbeat {moment(run['heartbeat_at'])}"


COMMANDS = [status]
