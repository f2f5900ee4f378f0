"""`launcher.py report`: what happened in the night, in one page."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from worker.cli.connection import open_database
from worker.cli.options import errors_dir
from worker.cli.output import tell, tell_text
from worker.database.client import Database
from worker.errors import UsageError
from worker.evidence.terminal_text import one_line
from worker.reporting.night import formats, window
from worker.reporting.night.gather import gather
from worker.reporting.night.model import Night
from worker.reporting.night.zone import local_zone


@click.command("report")
@click.option("--run", "run_id", type=click.IntRange(min=1), help="The night is this run.")
@click.option(
    "--since",
    metavar="TIME",
    help="The night began then: 18:00, 2026-01-31T18:00 or 12h.  [default: the last 18:00]",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(tuple(formats.WRITERS)),
    help="How to write it.  [default: text, or by the ending of -o]",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write it to this file.")
@click.option("--json", "is_json", is_flag=True, help="The same as --format json.")
def report(
    run_id: int | None, since: str | None, kind: str | None, output: Path | None, is_json: bool
) -> None:
    """Tell what happened in the night: verdict, what to do, figures, timeline, failures.

    The night is everything since the last 18:00; or, if nothing has ended since, the latest run
    in which something did.
    """
    if run_id is not None and since is not None:
        raise UsageError("give --run or --since, not both")
    if is_json and kind not in (None, "json"):
        raise UsageError(f"--json is --format json; leave it out, or --format {kind}")
    kind = "json" if is_json else kind or _kind_of(output)
    with closing(open_database()) as db:
        night = _night(db, run_id, since)
    content = formats.WRITERS[kind](night)
    if output is None or str(output) == "-":
        tell_text(content.rstrip("\n"))
        return
    try:
        formats.save(content, output)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror or error}") from error
    tell(f"wrote {one_line(str(output))}: {night.verdict.sentence}", err=True)


def _kind_of(output: Path | None) -> str:
    """Tell by a file's ending how to write it; one without an ending gets text."""
    ending = "" if output is None else output.suffix.lower()
    if not ending:
        return "text"
    if ending not in formats.ENDINGS:
        known = ", ".join(formats.ENDINGS)
        raise UsageError(f"{output}: no report ends so; give one of {known}, or say --format")
    return formats.ENDINGS[ending]


def _night(db: Database, run_id: int | None, since: str | None) -> Night:
    zone = local_zone()
    if run_id is not None:
        found = window.of_run(db, run_id, zone)
    elif since is not None:
        found = window.since(db, since, zone)
    else:
        found = window.last_night(db, zone)
    return gather(db, found, errors_dir())


COMMANDS = [report]
