"""The local zone, by whatever TZ says."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from worker.dashboard.wording import local_clock
from worker.reporting.night.zone import local_zone


@pytest.mark.parametrize("name", ["UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "Nonsense/Foo", "../etc"])
def test_what_names_no_zone_is_told_by_its_present_distance_from_utc(monkeypatch, name):
    monkeypatch.setenv("TZ", name)

    assert datetime.now(local_zone()).utcoffset() is not None
    assert local_clock().zone == local_zone()


def test_a_zone_is_known_by_its_name(monkeypatch):
    monkeypatch.setenv("TZ", ":Pacific/Kiritimati")

    assert local_zone() == ZoneInfo("Pacific/Kiritimati")
    assert local_clock().name == "Pacific/Kiritimati"
    assert datetime.now(local_zone()).utcoffset() == timedelta(hours=14)
