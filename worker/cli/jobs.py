"""`launcher.py jobs`: list jobs by what they are, a page at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from typing import Any

import click

from worker.cli.connection import open_database
from worker.cli.options import AGE, QUEUE, json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.wording import moment
from worker.database.client import Database, Row
from worker.evidence import masked_job
from worker.history import archive, listing
from worker.history.listing import NEWEST, OLDEST, Wanted
from worker.models import DEFAULT_QUEUE, Status

LONGEST_LINE = 200


def filter_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags that choose jobs by what they are."""
    for flag in (
        click.option("--since", type=AGE, help="Only jobs added within this time: 6h."),
        click.option("--batch", metavar="NAME", help="Only jobs of this batch."),
        click.option("--profile", metavar="ID", help="Only jobs of this profile."),
        click.option("--site", metavar="HOST", help="Only jobs that go to this site."),
        click.option("--queue", type=QUEUE, metavar="NAME", help="Only jobs of this queue."),
        click.option("--task", metavar="NAME", help="Only jobs of this task."),
    ):
        command = flag(command)
    return command


def wanted_by(
    db: Database, flags: dict[str, Any], statuses: tuple[str, ...], until: datetime | None = None
) -> Wanted:
    """Read the flags that choose jobs; times are the database's."""
    since = None if flags["since"] is None else archive.ago(archive.now(db), flags["since"])
    names = {name: flags[name] for name in ("task", "queue", "site", "profile", "batch")}
    return Wanted(statuses, since=since, until=until, **names)


@click.command("jobs")
@click.option(
    "--status",
    "statuses",
    type=click.Choice([status.value for status in Status]),
    multiple=True,
    help="Only jobs in this status; repeatable.",
)
@filter_flags
@click.option("--oldest", is_flag=True, help="List the oldest first.  [default: the newest]")
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Jobs of one page."
)
@click.option("--after", type=int, metavar="ID", help="Go on behind this job, as the page says.")
@json_flag
def jobs(
    statuses: tuple[str, ...],
    oldest: bool,
    limit: int,
    after: int | None,
    as_json: bool,
    **flags: Any,
) -> None:
    """List jobs of the queue, by status, task, queue, site, profile, batch and age."""
    order = OLDEST if oldest else NEWEST
    with closing(open_database()) as db:
        wanted = wanted_by(db, flags, statuses)
        found = list(listing.read(db, wanted, order=order, after=after, limit=limit + 1))
    page = [_masked(row) for row in found[:limit]]
    further = page[-1]["id"] if len(found) > limit else None
    if as_json:
        tell_json({"jobs": page, "after": further})
        return
    tell_all([_line(row) for row in page] or ["no such job"])
    if further is not None:
        tell(f"there are more; go on with: --after {further}", err=True)


def _masked(row: Row) -> Row:
    shown, _ = masked_job.masked({**row, "result": None, "last_error": None}, [])
    kept = {name: value for name, value in shown.items() if name in row}
    kept.pop("is_meant", None)
    return kept


def _line(row: Row) -> str:
    queue = f" {row['queue']}" if row["queue"] != DEFAULT_QUEUE else ""
    batch = f" [{row['batch']}]" if row["batch"] is not None else ""
    when = moment(row["finished_at"] or row["started_at"] or row["created_at"])
    waits = f"  {row['wait_reason']}" if row["status"] == "pending" and row["wait_reason"] else ""
    line = f"{row['id']}  {row['status']}  {row['task']}{queue}{batch}  {when}  {row['payload']}"
    return f"{line[:LONGEST_LINE]}{waits}"


COMMANDS = [jobs]
