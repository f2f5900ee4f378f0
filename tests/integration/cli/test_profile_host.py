"""Where a profile lives, as a person sees and changes it."""

from __future__ import annotations

from functools import partial

import pytest

from tests.integration.profile_cli import refused, said
from tests.integration.profile_fixtures import events
from worker.system.identity import HOST_VARIABLE


@pytest.fixture
def on_night_1(cli, monkeypatch):
    monkeypatch.setenv(HOST_VARIABLE, "night-1")
    return partial(cli, NIGHTSHIFT_HOST="night-1")


def test_a_profile_is_moved_and_shown_with_its_host(on_night_1, add, tmp_path):
    add("p1", folder=tmp_path / "gone")
    assert "  host      night-1\n" in said(on_night_1("profiles", "show", "p1"))

    moved = on_night_1("profiles", "move", "p1", "--to-host", "night-9")

    lines = said(moved).splitlines()
    assert lines[0] == "profile p1 lived on night-1, lives on night-9 now"
    assert lines[1].startswith("its folder must be at ")
    assert "no run on a host named night-9 was seen so far" in moved.stderr
    assert "night-9" in said(on_night_1("profiles", "list"))
    assert "is not here yet: copy it" in said(on_night_1("profiles", "move", "p1", "--here"))


def test_a_bad_move_is_one_line_and_changes_nothing(on_night_1, database, add):
    add("p1")
    before = events(database)

    for wrong in (
        ("p1",),
        ("p1", "--here", "--to-host", "night-2"),
        ("p1", "--to-host", "two words"),
        ("p1", "--to-host", ""),
        ("nobody", "--here"),
        ("p1", "--to-host", "night-1"),
        ("p1", "--here"),
    ):
        assert len(refused(on_night_1("profiles", "move", *wrong)).splitlines()) == 1, wrong

    assert events(database) == before


def test_why_and_show_name_the_host(on_night_1, cli, add, queue):
    add("p1")
    job = queue.enqueue("visit", {"url": "about:blank"}, profile_id="p1")

    told = said(cli("why", job, NIGHTSHIFT_HOST="night-2"))

    assert told == f"job {job} waits because profile p1 lives on night-1"
    shown = said(cli("show", job, NIGHTSHIFT_HOST="night-2"))
    assert "profile p1 lives on night-1" in shown
    assert "lives on" not in said(on_night_1("show", job))
