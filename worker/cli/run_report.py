"""Gather and save the report of a run that has ended; report_files.py decides whether."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from worker.database.client import Database
from worker.errors import NightshiftError
from worker.reporting.night import formats, window
from worker.reporting.night.gather import gather
from worker.reporting.night.zone import local_zone
from worker.settings import RunSettings


def save(settings: RunSettings, run_id: int) -> list[Path]:
    """Write the files that the settings name; raises NightshiftError where they cannot be."""
    with closing(Database(settings.database)) as db:
        night = gather(db, window.of_run(db, run_id, local_zone()), settings.errors_dir)
    assert settings.report_to is not None
    try:
        return formats.save_of_run(night, settings.report_to)
    except OSError as error:
        where = error.filename or settings.report_to
        raise NightshiftError(f"{where}: {error.strerror or error}") from error
