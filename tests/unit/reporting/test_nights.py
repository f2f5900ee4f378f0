"""A night begins at 18:00 by the clock of this machine, also when the hour changes."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from worker.reporting import nights

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("moment", "began"),
    [
        ("2026-02-01T02:14:00", "2026-01-31T17:00:00"),
        ("2026-02-01T17:00:00", "2026-02-01T17:00:00"),
        ("2026-02-01T16:59:59", "2026-01-31T17:00:00"),
        # Summer time begins in this night.
        ("2026-03-29T05:00:00", "2026-03-28T17:00:00"),
        ("2026-03-29T16:30:00", "2026-03-29T16:00:00"),
    ],
)
def test_the_night_of_a_moment_began_at_the_last_18_00(moment, began):
    assert nights.beginning(datetime.fromisoformat(moment), BERLIN) == datetime.fromisoformat(began)
