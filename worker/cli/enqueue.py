"""`launcher.py enqueue`: add jobs from a URL, a text file, CSV, JSONL, or standard input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from typing import Any

import click

from worker.cli import enqueue_source, payload_check
from worker.cli.connection import begin_database
from worker.cli.enqueue_checks import check_route, earliest_start
from worker.cli.enqueue_report import (
    Added,
    Tally,
    check_batch,
    name_of,
    report,
    report_dry_run,
)
from worker.cli.options import CALLBACK_URL, QUEUE, json_flag, run_settings
from worker.cli.output import tell
from worker.cli.payload_check import PayloadCheck
from worker.cli.sitemap_source import COLUMNS, Spool, sitemap_flags, spooled
from worker.cli.task_check import warning_about
from worker.cli.wording import operator
from worker.database.client import Database
from worker.errors import DatabaseUnavailable, UsageError
from worker.intake import duplicates
from worker.intake.again import until_added
from worker.intake.bulk import ids_of, open_bulk
from worker.intake.enqueuing import INTEGERS
from worker.intake.jobs import JobMaker, NewJob, Problem
from worker.intake.records import Record
from worker.models import DEFAULT_QUEUE, ORDER_ON_FAILURE
from worker.tasks import registry

# The width of its column.
MAX_TASK_NAME = 64


@click.command("enqueue")
@click.argument("source", required=False)
@sitemap_flags
@click.option("--task", default="visit", show_default=True, help="The task that does the jobs.")
@run_settings("tasks")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["text", "csv", "jsonl"]),
    help="Format of the file, or of stdin.  [default: by the file's name; else JSONL if the first "
    "line begins with {, or one URL on each line]",
)
@click.option("--delimiter", help="Character between CSV columns.  [default: comma; tab for .tsv]")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the file.")
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Fill a payload field from a column; repeatable.",
)
@click.option(
    "--dedupe",
    metavar="TEMPLATE",
    help="Key such as '{sku}' or '{sku}-{today}'; skip jobs whose key is in the queue.",
)
@click.option(
    "--dedupe-across-tasks",
    is_flag=True,
    help="Also skip jobs whose key another task has, if it was added with this flag.",
)
@click.option("--queue", type=QUEUE, default=DEFAULT_QUEUE, show_default=True, help="Their queue.")
@click.option("--profile", metavar="TEMPLATE", help="Profile of the jobs: p1, or '{column}'.")
@click.option(
    "--account", metavar="TEMPLATE", help="Account of the jobs; any of its profiles may do them."
)
@click.option(
    "--order-key",
    metavar="TEMPLATE",
    help="Jobs of one key run by id, one after the other: orders, or '{customer}'.",
)
@click.option(
    "--order-on-failure",
    type=click.Choice(ORDER_ON_FAILURE),
    help="If a job fails, those behind it wait for you, go on, or fail too.  [default: wait]",
)
@click.option(
    "--priority",
    type=click.IntRange(*INTEGERS["priority"]),
    default=0,
    show_default=True,
    help="Lower starts sooner.",
)
@click.option(
    "--not-before", metavar="TIME", help="Earliest start: 2h (from now), or 2026-01-31T18:00."
)
@click.option(
    "--max-attempts",
    type=click.IntRange(*INTEGERS["max_attempts"]),
    help="Attempts each job gets.  [default: --max-attempts of the run]",
)
@click.option(
    "--callback-url", type=CALLBACK_URL, metavar="URL", help="Webhook URL for each job's outcome."
)
@click.option("--batch", metavar="NAME", help="Report the jobs together when all are finished.")
@click.option(
    "--batch-callback",
    type=CALLBACK_URL,
    metavar="URL",
    help="Webhook URL for the end of the whole batch.  [default: --callback-url of the run]",
)
@click.option("--skip-bad", is_flag=True, help="Add the good lines even if others are bad.")
@click.option("--dry-run", is_flag=True, help="Check everything and add nothing.")
@json_flag
def enqueue(source: str | None, task: str, **flags: Any) -> int:
    """Add jobs. SOURCE is a URL, a file (one URL per line, CSV or JSONL), or - for stdin.

    With --sitemap URL there is no SOURCE.

    If a line is bad, nothing is added, unless --skip-bad is given.
    """
    if not 1 <= len(task) <= MAX_TASK_NAME:
        raise UsageError(f"--task: a task's name has 1 to {MAX_TASK_NAME} characters")
    check_batch(flags["batch"], flags["batch_callback"])
    flags["not_before"] = earliest_start(flags["not_before"])
    if flags["order_on_failure"] and flags["order_key"] is None:
        raise UsageError("--order-on-failure is for jobs in an order; give --order-key too")
    if (source is None) == (flags["sitemap"] is None):
        raise UsageError("say what to add: give either SOURCE or --sitemap URL")
    check = payload_check.of_task(task, flags["tasks"])
    with spooled(flags) as spool:
        name = source or str(flags["sitemap"])
        tally, added = until_added(
            lambda: _add(name, task, flags, check, spool),
            can_repeat=source != "-" or flags["dry_run"],
        )
    if flags["dry_run"]:
        return report_dry_run(tally, name, added, as_json=flags["as_json"])
    report(tally, name, task, added, as_json=flags["as_json"])
    return 0


def _add(
    source: str,
    task: str,
    flags: dict[str, Any],
    check: PayloadCheck,
    spool: Spool | None,
) -> tuple[Tally, Added]:
    """Read the source and add its jobs; return what was read, and what is new."""
    tally = Tally()
    columns = _mapping(flags["mapping"]) or (COLUMNS if spool is not None else {})
    maker = JobMaker(
        columns=columns,
        dedupe=flags["dedupe"],
        profile=flags["profile"],
        account=flags["account"],
        order_key=flags["order_key"],
        check=check.check,
        optional=check.optional if enqueue_source.is_csv(source, flags["kind"]) else frozenset(),
    )
    with _records(source, flags, spool) as lines:
        rows = _rows(maker, maker.peek(lines), tally)
        if flags["dry_run"]:
            return tally, _rehearse(rows, tally, task, flags)
        return tally, _insert(rows, tally, source, task, flags, is_routed=maker.is_routed)


def _rehearse(rows: Iterator[NewJob], tally: Tally, task: str, flags: dict[str, Any]) -> Added:
    """Count what would be added; the database is asked only where it knows more than the file."""
    if not (flags["dedupe"] or flags["profile"] or flags["account"]):
        added = Added(sum(1 for _ in rows))
        if task not in registry.load(flags["tasks"]).names:
            with suppress(DatabaseUnavailable), closing(begin_database()) as db:
                _warn_of_unknown(db, task, flags)
        return added
    across = flags["dedupe_across_tasks"]
    with closing(begin_database()) as db:
        check_route(db, flags["profile"], flags["account"])
        _warn_of_unknown(db, task, flags)
        watched = duplicates.watch(db, task, rows, across_tasks=across)
        new = sum(not is_taken for _, is_taken in watched)
        return Added(new, taken=duplicates.holders(db, task, tally.keys, across))


def _insert(
    rows: Iterator[NewJob], tally: Tally, source: str, task: str, flags: Any, *, is_routed: bool
) -> Added:
    with closing(begin_database()) as db:
        check_route(db, flags["profile"], flags["account"])
        _warn_of_unknown(db, task, flags)
        settings = {
            "queue": flags["queue"],
            "batch": flags["batch"],
            "dedupe_across_tasks": flags["dedupe_across_tasks"],
            "batch_callback": flags["batch_callback"] or None,
            "by": operator(),
            "priority": flags["priority"],
            "not_before": flags["not_before"],
            "max_attempts": flags["max_attempts"],
            "callback_url": flags["callback_url"] or None,
            "routed": is_routed,
            "order_on_failure": flags["order_on_failure"],
        }
        with open_bulk(db, task, **settings) as bulk:
            for _ in bulk.run(rows):
                pass
            if tally.bad and not flags["skip_bad"]:
                raise UsageError(tally.problem_text(source, "nothing was added"))
            if not tally.jobs:
                raise UsageError(f"{name_of(source)} has no job in it; nothing was added")
        across = flags["dedupe_across_tasks"]
        taken = [] if bulk.inserted else duplicates.holders(db, task, tally.keys, across)
        return Added(bulk.inserted, ids_of(db, bulk.blocks), taken)


def _warn_of_unknown(db: Database, task: str, flags: dict[str, Any]) -> None:
    if warning := warning_about(db, task, registry.load(flags["tasks"]).names):
        tell(f"warning: {warning}", err=True)


def jobs_of(
    source: str, task: str, sources: tuple[str, ...], *, mapping: tuple[str, ...] = (), **route: Any
) -> list[NewJob]:
    """Read all jobs of a URL or a file, as `enqueue` does; raises UsageError for a bad line."""
    check = payload_check.of_task(task, sources)
    optional = check.optional if enqueue_source.is_csv(source) else frozenset()
    maker = JobMaker(columns=_mapping(mapping), check=check.check, optional=optional, **route)
    tally = Tally()
    with enqueue_source.read(source) as lines:
        rows = list(_rows(maker, maker.peek(lines), tally))
    if tally.bad:
        raise UsageError(tally.problem_text(source, "nothing was added"))
    return rows


def _records(
    source: str, flags: dict[str, Any], spool: Spool | None
) -> AbstractContextManager[Iterator[Record]]:
    if spool is not None:
        return nullcontext(spool.records())
    return enqueue_source.read(source, flags["kind"], flags["delimiter"], flags["encoding"])


def _rows(maker: JobMaker, found: Iterator[Record], tally: Tally) -> Iterator[NewJob]:
    for item in maker.make(found):
        if isinstance(item, Problem):
            tally.add(item)
        else:
            tally.jobs += 1
            tally.note_key(item[1])
            yield item


def _mapping(pairs: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, equals, column = pair.partition("=")
        if not equals or not name or not column:
            raise UsageError(f"--map {pair}: write FIELD=COLUMN, as in url=Link")
        found[name.strip()] = column.strip()
    return found


COMMANDS = [enqueue]
