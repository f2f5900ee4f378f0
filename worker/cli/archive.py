"""`launcher.py archive`: finished jobs leave the queue in small batches, for cron and by hand."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import click

from worker.cli.connection import open_database
from worker.cli.options import DURATION, json_flag
from worker.cli.wording import operator
from worker.errors import UsageError
from worker.history import archive as archiving

STATUSES = ("done", "error")


@click.command("archive")
@click.option(
    "--older-than", type=DURATION, required=True, help="Finished at least so long ago: 30d, 12h."
)
@click.option("--status", default="done,error", show_default=True, help="Of jobs that ended so.")
@click.option(
    "--batch",
    type=click.IntRange(1, 10_000),
    default=archiving.BATCH,
    show_default=True,
    help="Jobs in one transaction.",
)
@click.option("--max-runtime", type=DURATION, help="Stop after this long; the next call goes on.")
@click.option("--dry-run", is_flag=True, help="Count, and move nothing.")
@click.option("--quiet", is_flag=True, help="Print nothing when all went well.")
@json_flag
def archive(**flags: Any) -> None:
    """Move finished jobs with their history out of the queue, into the archive tables.

    Pools go on meanwhile. It may be killed at any moment, and several may run at once.
    """
    statuses = _statuses(flags["status"])
    with closing(open_database()) as db:
        finished = archiving.finished_before(db, flags["older_than"], statuses)
        if flags["dry_run"]:
            _tell_count(archiving.count(db, finished), flags)
            return
        label = archiving.Label(operator(), "finished long enough ago")
        moved = attempts = 0
        for done in archiving.run(
            db, finished, label, batch=flags["batch"], max_seconds=flags["max_runtime"]
        ):
            moved, attempts = moved + done.jobs, attempts + done.attempts
    if flags["as_json"]:
        click.echo(json.dumps({"jobs": moved, "attempts": attempts, "dry_run": False}))
    elif not flags["quiet"]:
        click.echo(f"archived {moved:,} jobs with {attempts:,} attempts of their history")


def _tell_count(counts: dict[str, int], flags: dict[str, Any]) -> None:
    total = sum(counts.values())
    if flags["as_json"]:
        click.echo(json.dumps({"jobs": total, "by_status": counts, "dry_run": True}))
    elif not flags["quiet"]:
        parts = ", ".join(f"{jobs:,} {status}" for status, jobs in counts.items())
        click.echo(f"would archive {total:,} jobs: {parts}")


def _statuses(text: str) -> tuple[str, ...]:
    statuses = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not statuses or not set(statuses) <= set(STATUSES):
        raise UsageError(f"--status {text}: only finished jobs are archived; write done,error")
    return statuses


COMMANDS = [archive]
