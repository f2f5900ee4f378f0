"""`launcher.py archive`: move finished jobs out of the queue, in small batches."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from worker.cli.connection import open_database
from worker.cli.options import AGE, DURATION, json_flag
from worker.cli.output import tell, tell_json
from worker.cli.wording import counted, duration, operator
from worker.errors import UsageError
from worker.history import archive as archiving

STATUSES = ("done", "error")


@click.command("archive")
@click.option(
    "--older-than",
    type=AGE,
    required=True,
    help="Only jobs that finished at least this long ago: 30d, 12h.",
)
@click.option("--status", default="done,error", show_default=True, help="Only these statuses.")
@click.option(
    "--batch",
    type=click.IntRange(1, 10_000),
    default=archiving.BATCH,
    show_default=True,
    help="Jobs to move in one transaction.",
)
@click.option("--max-runtime", type=DURATION, help="Stop after this long; the next call continues.")
@click.option("--dry-run", is_flag=True, help="Only count the jobs; move nothing.")
@click.option(
    "--quiet", is_flag=True, is_eager=True, help="Print nothing unless something went wrong."
)
@json_flag
def archive(**flags: Any) -> None:
    """Move finished jobs and their history out of the queue, into the archive tables.

    Runs may go on meanwhile. The command may be killed at any moment, and several may run at once.
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
        tell_json({"jobs": moved, "attempts": attempts, "dry_run": False})
    elif not flags["quiet"]:
        tell(
            f"archived {counted(moved, 'job')} {_age(flags)}, "
            f"with {counted(attempts, 'attempt')} of history"
        )


def _tell_count(counts: dict[str, int], flags: dict[str, Any]) -> None:
    total = sum(counts.values())
    if flags["as_json"]:
        tell_json({"jobs": total, "by_status": counts, "dry_run": True})
    elif not flags["quiet"]:
        parts = ", ".join(f"{jobs:,} {status}" for status, jobs in counts.items())
        tell(f"would archive {counted(total, 'job')} {_age(flags)}: {parts}")


def _age(flags: dict[str, Any]) -> str:
    """Say how --older-than was understood: 30 is half a minute, not a month."""
    return f"that finished more than {duration(flags['older_than'])} ago"


def _statuses(text: str) -> tuple[str, ...]:
    statuses = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not statuses or not set(statuses) <= set(STATUSES):
        raise UsageError(f"--status {text}: only finished jobs are archived; write done,error")
    return statuses


COMMANDS = [archive]
