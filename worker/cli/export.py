"""`launcher.py export`: write results as CSV or JSONL, and go on as jobs finish if wanted."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

import click

from worker.cli import output
from worker.cli.connection import open_database
from worker.cli.output import tell
from worker.cli.wording import plain
from worker.database.client import Database
from worker.errors import UsageError
from worker.evidence.terminal_text import one_line, visible_json
from worker.history import export_columns, results
from worker.history.export_columns import LateKeys
from worker.history.results import EARLIEST, LATEST, Selection

FOLLOW_SECONDS = 1.0


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
    type=click.Choice(["csv", "jsonl"]),
    help="Output format.  [default: csv if the file's name ends in .csv, else jsonl]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file.  [default: stdout]",
)
@click.option("--columns", help="CSV columns, comma-separated.  [default: all keys of the results]")
@click.option(
    "--rows", is_flag=True, help="Write a line for each row of a result that is a list of rows."
)
@click.option("--raw", is_flag=True, help="Leave CSV cells as they are, formulas included.")
@click.option("--follow", is_flag=True, help="Keep exporting jobs as they finish, until Ctrl-C.")
def export(**flags: Any) -> None:
    """Write the results of finished jobs, in the order they finished.

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
    kind = flags["kind"] or ("csv" if str(flags["output"] or "").endswith(".csv") else "jsonl")
    with closing(open_database()) as db, _target(flags["output"]) as target:
        if kind == "jsonl":
            _write_jsonl(_jobs(db, selection, flags["follow"]), target)
        elif flags["columns"] is not None:
            columns = export_columns.named(flags["columns"])
            _write_csv(_jobs(db, selection, flags["follow"]), target, columns, flags["raw"])
        else:
            columns = _learn_columns(db, selection, flags["follow"])
            late = LateKeys(columns, partial(tell, err=True))
            jobs = late.watch(_jobs(db, selection, flags["follow"]))
            _write_csv(jobs, target, columns, flags["raw"])


def _learn_columns(db: Database, selection: Selection, is_followed: bool) -> list[str]:
    """Read the jobs once, only to learn which keys their results have.

    Where nothing has finished yet, following waits for the first job: the header of a CSV file
    cannot be changed afterwards.
    """
    while is_followed and not any(results.read(db, selection.copy(), is_followed=True)):
        time.sleep(FOLLOW_SECONDS)
    learnt = export_columns.learn(results.read(db, selection.copy()), selection.statuses)
    return [*(["row"] if selection.by_rows else []), *learnt]


def _jobs(db: Database, selection: Selection, is_followed: bool) -> Iterator[dict[str, Any]]:
    while True:
        yield from results.read(db, selection, is_followed=is_followed)
        if not is_followed:
            return
        time.sleep(FOLLOW_SECONDS)


def _write_jsonl(jobs: Iterable[dict[str, Any]], target: Target) -> None:
    for job in jobs:
        text = json.dumps(job, ensure_ascii=False, default=plain)
        target.write((visible_json(text) if target.is_terminal else text) + "\n")


def _write_csv(
    jobs: Iterable[dict[str, Any]], target: Target, columns: list[str], is_raw: bool
) -> None:
    writer = csv.writer(target, lineterminator="\n" if target.is_terminal else "\r\n")

    def write(values: Iterable[Any]) -> None:
        cells = [export_columns.cell(plain(value), is_raw=is_raw) for value in values]
        writer.writerow([one_line(str(cell)) for cell in cells] if target.is_terminal else cells)

    # Strangers have named the columns too: they are keys of results.
    write(export_columns.header(columns))
    for job in jobs:
        write(export_columns.values(job, columns))


def _moment(flag: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise UsageError(f"{flag} {text} is not a time; write 2026-01-31T18:00") from None


@dataclass(frozen=True, slots=True)
class Target:
    """Where the export goes; what is written is there at once, for those who follow it."""

    file: IO[str] | None = None

    @property
    def is_terminal(self) -> bool:
        return output.is_terminal() if self.file is None else self.file.isatty()

    def write(self, text: str) -> None:
        if self.file is None:
            output.write_exactly(text)
        else:
            self.file.write(text)
            self.file.flush()


@contextmanager
def _target(path: Path | None) -> Iterator[Target]:
    if path is None:
        yield Target()
        return
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            yield Target(file)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


COMMANDS = [export]
