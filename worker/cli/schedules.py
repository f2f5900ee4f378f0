"""`launcher.py schedule` and `tick`: rules that add jobs at given times."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict
from dataclasses import replace as with_changes
from typing import Any

import click

from worker.cli import enqueue, payload_check
from worker.cli.connection import begin_database, open_database
from worker.cli.enqueue_checks import check_route
from worker.cli.groups import DefaultGroup
from worker.cli.options import QUEUE, json_flag, run_settings
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.schedule_line import schedule_line
from worker.cli.task_check import warning_about
from worker.cli.wording import counted, moment, operator
from worker.errors import UsageError
from worker.installation import command_line
from worker.intake.enqueuing import INTEGERS
from worker.intake.jobs import JobMaker, NewJob, Problem
from worker.models import DEFAULT_QUEUE
from worker.queue.batches import BatchWatch
from worker.reporting.night.zone import local_zone
from worker.scheduling import firing, schedules
from worker.scheduling.schedules import IF_MISSED, NewSchedule
from worker.tasks import registry

# `tick` looks through the batches for this long.
BATCH_SECONDS = 10.0
FIRING_SECONDS = 30.0


@click.group("schedule", cls=DefaultGroup)
def schedule() -> None:
    """Add jobs at given times: add, list, pause, resume, run-now, remove.

    A schedule is kept in the database. Whichever run, or `tick`, sees first that it is due adds
    its jobs, exactly once.
    """


@schedule.command("add")
@click.argument("name")
@click.option("--cron", required=True, metavar="FIELDS", help='When: "0 18 * * 1-5", in quotes.')
@click.option("--task", default="visit", show_default=True, help="The task that does the jobs.")
@run_settings("tasks")
@click.option("--file", "source", metavar="FILE", help="Jobs to add, read now as `enqueue` would.")
@click.option("--payload", metavar="JSON", help="The payload of one job, instead of a file.")
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Fill a payload field from a column of the file; repeatable.",
)
@click.option("--profile", metavar="TEMPLATE", help="Profile of the jobs: p1, or '{column}'.")
@click.option("--account", metavar="TEMPLATE", help="Account of the jobs.")
@click.option("--order-key", metavar="TEMPLATE", help="Jobs of one key run one after the other.")
@click.option(
    "--timezone",
    metavar="ZONE",
    help="Time zone, such as Europe/Berlin.  [default: this machine's]",
)
@click.option(
    "--if-missed",
    type=click.Choice(IF_MISSED),
    default="once",
    show_default=True,
    help="Times that nobody saw: add the jobs once for all, not at all, or for each of them.",
)
@click.option("--queue", type=QUEUE, default=DEFAULT_QUEUE, show_default=True, help="Their queue.")
@click.option(
    "--priority",
    type=click.IntRange(*INTEGERS["priority"]),
    default=0,
    show_default=True,
    help="Lower starts sooner.",
)
@click.option("--batch", "is_batched", is_flag=True, help="Report the jobs of one time together.")
@click.option("--replace", is_flag=True, help="Put it in the place of one of the same name.")
def add(name: str, source: str | None, payload: str | None, replace: bool, **flags: Any) -> None:
    """Keep a schedule named NAME."""
    if source is not None and payload is not None:
        raise UsageError("give --file FILE or --payload JSON, not both")
    zone = flags["timezone"] or getattr(local_zone(), "key", "UTC")
    names = ("task", "cron", "queue", "priority", "if_missed", "is_batched")
    new = NewSchedule(name, timezone=zone, **{each: flags[each] for each in names})
    schedules.check(new)
    jobs = _jobs(source, payload, flags)
    with closing(begin_database()) as db:
        check_route(db, flags["profile"], flags["account"])
        if warning := warning_about(db, new.task, registry.load(flags["tasks"]).names):
            tell(f"warning: {warning}", err=True)
        payloads, routes = schedules.parts_of(jobs)
        new = with_changes(new, payloads=payloads, routes=routes)
        kept = schedules.add(db, new, operator(), replace=replace)
    tell(
        f"schedule {name}: {counted(int(kept['jobs']), 'job')} for task {new.task}, "
        f"next at {moment(kept['next_at'])}"
    )


@schedule.command("list")
@json_flag
def list_schedules(as_json: bool) -> None:
    """List all schedules, when each comes next and when it last added jobs."""
    with closing(open_database()) as db:
        rows = schedules.everything(db)
    if as_json:
        tell_json(rows)
    else:
        tell_all(
            [schedule_line(row) for row in rows]
            or ["no schedules; see: launcher.py schedule add -h"]
        )


@schedule.command("pause")
@click.argument("name")
def pause(name: str) -> None:
    """Let a schedule rest."""
    with closing(open_database()) as db:
        schedules.pause(db, name)
    tell(f"schedule {name} is paused; go on with: {command_line('schedule', 'resume', name)}")


@schedule.command("resume")
@click.argument("name")
def resume(name: str) -> None:
    """Let a schedule go on with its next time; those of the pause are not made up for."""
    with closing(open_database()) as db:
        row = schedules.resume(db, name)
    tell(f"schedule {name} goes on, next at {moment(row['next_at'])}")


@schedule.command("run-now")
@click.argument("name")
def run_now(name: str) -> None:
    """Add the jobs of a schedule now; its next time stays as it is."""
    with closing(open_database()) as db:
        fired = firing.run_now(db, name)
    tell(f"schedule {name}: added {counted(fired.jobs, 'job')}")


@schedule.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Forget a schedule; the jobs that it has added stay."""
    with closing(open_database()) as db:
        schedules.remove(db, name)
    tell(f"schedule {name} is removed")


@click.command("tick")
@run_settings("quiet", "callback_url")
@json_flag
def tick(quiet: bool, callback_url: str | None, as_json: bool) -> None:
    """Add the jobs of schedules that are due, and tell of finished batches; for cron.

    A run does this by itself. `tick` is for machines where no run is at work all the time.
    """
    with closing(open_database()) as db:
        fired = firing.fire_due(db, seconds=FIRING_SECONDS)
        ended = BatchWatch(db, callback_url).look(BATCH_SECONDS)
    if as_json:
        tell_json({"fired": [asdict(each) for each in fired], "batches_finished": ended})
    elif not quiet:
        told = [f"schedule {each.name}: added {counted(each.jobs, 'job')}" for each in fired]
        told += [f"batch {name} is finished" for name in ended]
        tell_all(told or ["nothing is due"])


def _jobs(source: str | None, payload: str | None, flags: dict[str, Any]) -> list[NewJob]:
    task, sources, mapping = flags["task"], flags["tasks"], flags["mapping"]
    route = {name: flags[name] for name in ("profile", "account", "order_key")}
    if source is not None:
        return enqueue.jobs_of(source, task, sources, mapping=mapping, **route)
    if mapping:
        raise UsageError("--map is for the columns of --file FILE")
    route["check"] = payload_check.of_task(task, sources).check
    maker = JobMaker(**route)
    (made,) = maker.make(maker.peek(iter([(1, _payload(payload or "{}"))])))
    if isinstance(made, Problem):
        raise UsageError(f"--payload: {made.text}")
    return [made]


def _payload(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--payload is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError('--payload: give an object, such as {"url": "https://example.com"}')
    return value


COMMANDS = [schedule, tick]
