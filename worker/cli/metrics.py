"""`launcher.py metrics`: Prometheus metrics on stdout, or as a file for a textfile collector."""

from __future__ import annotations

import os
from pathlib import Path

import click

from worker.cli.connection import open_database
from worker.cli.options import json_flag
from worker.cli.output import tell_error, tell_json, write_exactly
from worker.errors import SettingsError, UsageError
from worker.exit_codes import ExitCode
from worker.reporting import exposition
from worker.reporting.metrics import look

# The collector runs as another user and must read it; it holds counts and names of tasks and
# hosts, and no secret. All other files that Nightshift writes are for their owner alone.
READABLE_BY_ALL = 0o644


@click.command("metrics")
@click.option(
    "--textfile",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write them to this file (*.prom), whole or not at all, for node_exporter.",
)
@json_flag
def metrics(textfile: Path | None, as_json: bool) -> int:
    """Print metrics for Prometheus, read from the database now.

    When the database does not answer they say so (nightshift_up 0), and the exit code is 69.
    """
    if as_json and textfile is not None:
        raise UsageError("give --json or --textfile, not both: a collector reads no JSON")
    families, is_up = look(open_database)
    if as_json:
        tell_json({"metrics": exposition.as_json(families)})
    elif textfile is None:
        write_exactly(exposition.render(families))
    else:
        _write_whole(textfile.absolute(), exposition.render(families))
    if is_up:
        return ExitCode.OK
    tell_error("the database does not answer; ask: launcher.py doctor")
    return ExitCode.UNAVAILABLE


def _write_whole(path: Path, text: str) -> None:
    """Replace the file in one step; the collector reads `*.prom`, so never what is half there."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.chmod(READABLE_BY_ALL)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise SettingsError(f"--textfile {path} cannot be written: {error.strerror}") from error


COMMANDS = [metrics]
