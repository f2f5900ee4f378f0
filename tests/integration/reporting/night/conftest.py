"""A night in a real database, for every test of the report."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.integration.reporting.night.invented_night import InventedNight, invent
from worker.database.client import Database
from worker.reporting.night import window
from worker.reporting.night.gather import gather
from worker.reporting.night.model import Night


@pytest.fixture
def errors_dir(tmp_path: Path) -> Path:
    """The folder of the evidence."""
    folder = tmp_path / "errors"
    folder.mkdir()
    return folder


@pytest.fixture
def invented(database: Database, errors_dir: Path) -> InventedNight:
    """A night that ended five minutes ago."""
    now: datetime = database.fetch_all("database_time")[0]["now"]
    return invent(database, now, errors_dir)


@pytest.fixture
def night(database: Database, invented: InventedNight, errors_dir: Path) -> Night:
    """Its report."""
    return gather(database, window.of_run(database, invented.run_id, UTC), errors_dir)


def shown(night: Night, name: str) -> Any:
    """Find a line of the figures by its name."""
    from worker.reporting.night import figures_table

    return next(line for line in figures_table.lines(night) if line.name == name)


@pytest.fixture
def told(database, invented, errors_dir):
    """Tell the night again, after something was changed."""
    return lambda: gather(database, window.of_run(database, invented.run_id, UTC), errors_dir)
