"""`launcher.py export`: write results as CSV, JSONL or a workbook; follow jobs as they finish."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from worker.cli.connection import open_database
from worker.cli.export_files import (
    check_workbook,
    text_target,
    write_csv,
    write_jsonl,
    write_workbook,
)
from worker.cli.output import tell
from worker.cli.wording import counted
from worker.database.client import Database
from worker.errors import UsageError
from worker.history import export_columns, results
from worker.history.export_columns import Columns, LateKeys
from worker.history.results import EARLIEST, LATEST, Selection

FOLLOW_SECONDS = 1.0
# What a file's name says about its format.
KINDS = {".csv": "csv", ".xlsx": "xlsx"}


@click.command("export")
@click.option("--task", help="Only jobs of this task.")
@click.option(
    "--status",
    type=click.Choice(["done", "error", "all"]),
    default="done",
    show_default=True,
    help="Only jobs that ended in this status.",
)
@click.option(
    "--since",
    metavar="TIME",
    help="Only jobs that finished at 2026-01-31T18:00 (local time) or later.",
)
@click.option("--before", metavar="TIME", help="Only jobs that finished before this time.")
@click.option("--archived", is_flag=True, help="Include jobs that were moved to the archive.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "jsonl", "xlsx"]),
    help="Output format.  [default: csv or xlsx if the file's name ends so, else jsonl]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file.  [default: stdout]",
)
@click.option(
    "--columns",
    metavar="NAMES",
    help="Only these, in this order: id,url,price,payload.sku.  [default: all keys of the results]",
)
@click.option(
    "--rows", is_flag=True, help="Write a line for each row of a result that is a list of rows."
)
@click.option("--raw", is_flag=True, help="Leave CSV cells as they are, formulas included.")
@click.option("--follow", is_flag=True, help="Keep exporting jobs as they finish, until Ctrl-C.")
def export(**flags: Any) -> None:
    """Write the results of finished jobs, in the order they finished.

    A column is a field of the job, a key of its result or a field of its payload, whichever has
    the name first; job., result. and payload. before a name say which is meant.

    A CSV cell that a spreadsheet would run as a formula gets a leading ', unless --raw is given.
    On a terminal, characters that it would obey are shown as text; files and programs get them.
    """
    selection = Selection(
        task=flags["task"],
        statuses=("done", "error") if flags["status"] == "all" else (flags["status"],),
        since=_moment("--since", flags["since"]) or EARLIEST,
        before=_moment("--before", flags["before"]) or LATEST,
        with_archive=flags["archived"],
        by_rows=flags["rows"],
    )
    path, is_followed = flags["output"], flags["follow"]
    kind = flags["kind"] or KINDS.get(path.suffix.lower() if path else "", "jsonl")
    if kind == "xlsx":
        check_workbook(path, is_followed=is_followed)
    chosen = export_columns.named(flags["columns"]) if flags["columns"] is not None else None
    count = Count(by_rows=flags["rows"])
    with closing(open_database()) as db:
        if chosen and not is_followed:
            export_columns.check(chosen, results.read(db, selection.copy()))
        try:
            _write(kind, db, selection, count, chosen, flags)
        except KeyboardInterrupt:
            tell(count.sentence(path), err=True)
            raise
    tell(count.sentence(path), err=True)


def _write(
    kind: str,
    db: Database,
    selection: Selection,
    count: Count,
    chosen: list[str] | None,
    flags: dict[str, Any],
) -> None:
    path, is_followed = flags["output"], flags["follow"]
    # The header of a CSV file cannot be changed afterwards: the file is opened when it is known.
    columns = learnt = None
    if chosen is None and kind != "jsonl":
        learnt = _learn_columns(db, selection, is_followed)
        columns = learnt.names
    jobs = _jobs(db, selection, is_followed)
    if learnt is not None:
        jobs = LateKeys(learnt, partial(tell, err=True)).watch(jobs)
    jobs = count.watch(jobs)
    if kind == "xlsx":
        write_workbook(jobs, path, chosen or columns or [])
        return
    with text_target(path, is_followed=is_followed) as target:
        if kind == "jsonl":
            write_jsonl(jobs, target, chosen)
        else:
            write_csv(jobs, target, chosen or columns or [], is_raw=flags["raw"])


def _learn_columns(db: Database, selection: Selection, is_followed: bool) -> Columns:
    """Read the jobs once, only to learn which keys their results have.

    Where nothing has finished yet, following waits for the first job.
    """
    while is_followed and not any(results.read(db, selection.copy(), is_followed=True)):
        time.sleep(FOLLOW_SECONDS)
    columns = Columns.of(selection.statuses, by_rows=selection.by_rows)
    return columns.learn(results.read_naming(db, selection.copy()))


@dataclass(slots=True)
class Count:
    """How many jobs, and rows of them, were exported."""

    by_rows: bool
    jobs: int = 0
    lines: int = 0

    def watch(self, jobs: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Pass the jobs on, and count them."""
        for job in jobs:
            yield job
            self.lines += 1
            self.jobs += job.get("row", 1) == 1

    def sentence(self, path: Path | None) -> str:
        """Say what was exported, and where to."""
        rows = f"{counted(self.lines, 'row')} of " if self.by_rows else ""
        to = f" to {path}" if path else ""
        return f"exported {rows}{counted(self.jobs, 'job')}{to}"


def _jobs(db: Database, selection: Selection, is_followed: bool) -> Iterator[dict[str, Any]]:
    while True:
        yield from results.read(db, selection, is_followed=is_followed)
        if not is_followed:
            return
        time.sleep(FOLLOW_SECONDS)


def _moment(flag: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise UsageError(f"{flag} {text} is not a time; write 2026-01-31T18:00") from None


COMMANDS = [export]
