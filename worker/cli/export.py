"""`launcher.py export`: results as CSV or JSONL, streaming, and following if wanted."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import click

from worker.cli.connection import open_database
from worker.cli.wording import plain
from worker.database.client import Database
from worker.errors import UsageError
from worker.history import results as exporting
from worker.history.results import EARLIEST, LATEST, Selection

FOLLOW_SECONDS = 1.0
JOB_COLUMNS = ("id", "task", "status", "attempts", "finished_at")


@click.command("export")
@click.option("--task", help="Only jobs of this task.")
@click.option(
    "--status",
    type=click.Choice(["done", "error", "all"]),
    default="done",
    show_default=True,
    help="Only jobs that ended so.",
)
@click.option("--since", metavar="TIME", help="Finished at or after, as 2026-01-31T18:00 (local).")
@click.option("--before", metavar="TIME", help="Finished before.")
@click.option("--archived", is_flag=True, help="Also jobs that were moved to the archive.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "jsonl"]),
    help="Of the output.  [default: by its name, else jsonl]",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file.")
@click.option("--columns", help="CSV columns, comma-separated.  [default: those of the results]")
@click.option("--raw", is_flag=True, help="Do not defuse CSV cells that a spreadsheet would run.")
@click.option("--follow", is_flag=True, help="Go on with what finishes later, until Ctrl-C.")
def export(**flags: Any) -> None:
    """Write the results of finished jobs, in the order they finished."""
    selection = Selection(
        task=flags["task"],
        statuses=("done", "error") if flags["status"] == "all" else (flags["status"],),
        since=_moment("--since", flags["since"]) or EARLIEST,
        before=_moment("--before", flags["before"]) or LATEST,
        with_archive=flags["archived"],
    )
    kind = flags["kind"] or ("csv" if str(flags["output"] or "").endswith(".csv") else "jsonl")
    with closing(open_database()) as db, _target(flags["output"]) as target:
        if kind == "jsonl":
            _write_jsonl(_jobs(db, selection, flags["follow"]), target)
            return
        columns = _columns(flags["columns"])
        late = LateKeys()
        if columns is None:
            columns = _learn_columns(db, selection, flags["follow"])
            late = LateKeys({*columns, "url"})
        jobs = late.watch(_jobs(db, selection, flags["follow"]))
        _write_csv(jobs, target, columns, flags["raw"])


def _learn_columns(db: Database, selection: Selection, is_followed: bool) -> list[str]:
    """Pass over the jobs once, only to learn which keys their results have.

    Where nothing has finished yet, following waits for the first job: a header is for good.
    """
    while is_followed and not any(exporting.read(db, replace(selection), is_followed=True)):
        time.sleep(FOLLOW_SECONDS)
    columns = _result_keys(exporting.read(db, replace(selection)))
    # Failed jobs have no result, but a reason.
    first = ["reason"] if "error" in selection.statuses else []
    return list(dict.fromkeys(first + columns))


class LateKeys:
    """Tells of keys that come after a CSV file's header was written and have no column in it."""

    def __init__(self, known: set[str] | None = None) -> None:
        self._known = known

    def watch(self, jobs: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Pass the jobs on; say once about each key that it is left out."""
        for job in jobs:
            if self._known is not None and (new := set(_result_keys([job])) - self._known):
                self._known |= new
                click.echo(
                    f"job {job['id']} has {', '.join(sorted(new))}, which the header lacks: left "
                    f"out from here on; to have it, export again, or name it with --columns",
                    err=True,
                )
            yield job


def _jobs(db: Database, selection: Selection, is_followed: bool) -> Iterator[dict[str, Any]]:
    while True:
        yield from exporting.read(db, selection, is_followed=is_followed)
        if not is_followed:
            return
        time.sleep(FOLLOW_SECONDS)


def _write_jsonl(jobs: Iterable[dict[str, Any]], target: IO[str]) -> None:
    for job in jobs:
        target.write(json.dumps(job, ensure_ascii=False, default=plain) + "\n")
        target.flush()


def _write_csv(
    jobs: Iterable[dict[str, Any]], target: IO[str], columns: list[str], is_raw: bool
) -> None:
    writer = csv.writer(target)
    writer.writerow([*JOB_COLUMNS, "url", *columns])
    for job in jobs:
        payload = job["payload"] if isinstance(job["payload"], dict) else {}
        result = job["result"] if isinstance(job["result"], dict) else {"result": job["result"]}
        cells = [*(plain(job[name]) for name in JOB_COLUMNS), payload.get("url", "")]
        if job["status"] == "error":
            result["reason"] = job["reason"]
        cells += [result.get(name, payload.get(name, job.get(name, ""))) for name in columns]
        writer.writerow([_cell(cell, is_raw) for cell in cells])
        target.flush()


def _cell(value: Any, is_raw: bool) -> Any:
    """Write lists and objects as JSON; keep a page's text from being run by a spreadsheet."""
    if value is None:
        return ""
    if isinstance(value, dict | list | bool):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and not is_raw and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value


def _result_keys(jobs: Iterable[dict[str, Any]]) -> list[str]:
    """List the keys of results in the order they are first seen; not the URL, which has a place."""
    keys: dict[str, None] = {}
    for job in jobs:
        result = job["result"]
        if result is None:
            continue
        keys.update(dict.fromkeys(result if isinstance(result, dict) else ["result"]))
    keys.pop("url", None)
    return list(keys)


def _columns(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def _moment(flag: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise UsageError(f"{flag} {text} is not a time; write 2026-01-31T18:00") from None


@contextmanager
def _target(path: Path | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
        return
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


COMMANDS = [export]
