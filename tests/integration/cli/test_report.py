"""`launcher.py report`: on the terminal, into a file, and what it says to wrong flags."""

from __future__ import annotations

import json
import stat
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings), TZ="UTC")


def test_it_tells_the_night_and_changes_nothing(cli, one_of_each):
    report = cli("report", "--since", "1h").stdout

    assert "5 in = 1 done + 1 failed + 2 pending + 1 in progress" in report
    assert "FAILED: 1 in 1 group" in report
    assert "HTTP 404" in report
    assert cli("report", "--since", "1h", "--format", "json").returncode == 0


def test_a_file_is_written_by_its_ending_and_belongs_to_its_owner_alone(cli, one_of_each, tmp_path):
    target = tmp_path / "night.html"
    done = cli("report", "--since", "1h", "-o", target)

    assert done.returncode == 0
    assert done.stdout == ""
    assert f"wrote {target}: " in done.stderr
    assert target.read_text().startswith("<!doctype html>")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    for flags in (("--format", "json"), ("--json",), ("--json", "-o", "-")):
        told = json.loads(cli("report", "--since", "1h", *flags).stdout)
        assert told["jobs"]["in"] == 5


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--run", "7"), "there is no run 7; list them: launcher.py runs"),
        (("--since", "soon"), "write 18:00, 2026-01-31T18:00 or 12h"),
        (("--run", "7", "--since", "1h"), "give --run or --since, not both"),
        (("--json", "--format", "md"), "--json is --format json; leave it out, or --format md"),
        (("-o", "night.pdf"), "no report ends so; give one of "),
        (("-o", "/no/such/folder/night.html"), "cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(cli, database, flags, says):
    done = cli("report", *flags)

    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
