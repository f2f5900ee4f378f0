"""`run --report-to`: the report of a run that did something, written at its end.

It never changes what the run came to: what cannot be written is told, and that is all.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from worker.cli.output import tell, tell_error
from worker.database.client import Database
from worker.errors import NightshiftError
from worker.reporting.night import formats, window
from worker.reporting.night.gather import gather
from worker.reporting.night.zone import local_zone
from worker.settings import RunSettings
from worker.supervisor.view import Summary
from worker.system.fork import call_in_child


def write(settings: RunSettings, summary: Summary) -> None:
    """Write the report in a child, if one is wanted and there is anything to tell."""
    if settings.report_to is None or not _did_something(summary):
        return
    try:
        if not summary.is_recorded:
            raise NightshiftError("the database does not answer")
        paths = call_in_child(_write, settings, summary.run_id)
    except (NightshiftError, RuntimeError) as error:
        # A child's own bug arrives as a RuntimeError: it must not cost the run its exit code.
        tell_error(
            f"the report was not written: {error}; write it later: "
            f"launcher.py report --run {summary.run_id} -o night.html"
        )
        return
    if not settings.quiet:
        tell(f"report: {paths[0]}", err=True)


def _write(settings: RunSettings, run_id: int) -> list[Path]:
    with closing(Database(settings.database)) as db:
        night = gather(db, window.of_run(db, run_id, local_zone()), settings.errors_dir)
    assert settings.report_to is not None
    try:
        return formats.save_of_run(night, settings.report_to)
    except OSError as error:
        where = error.filename or settings.report_to
        raise NightshiftError(f"{where}: {error.strerror or error}") from error


def _did_something(summary: Summary) -> bool:
    return bool(summary.done or summary.failed or summary.retried or summary.crashes)
