"""`make bench`: its groups fit into its time, and what goes wrong in one is said by its rows."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench import all as whole
from bench.groups import GROUPS, Group

ROOT = Path(__file__).parents[2]
GROUP = Group("some", "Some", "bench.some", (), 30, 10, (("the limit", "≥ 0.7"), ("Redis", "≥ 3")))


def test_all_groups_fit_into_the_time_of_a_whole_run_from_start_to_end():
    assert sum(group.whole for group in GROUPS) < 60 * whole.MINUTES
    assert len({group.name for group in GROUPS}) == len(GROUPS)
    assert [group.name for group in GROUPS if group.takes_the_rest] == [GROUPS[-1].name]


def test_a_group_gets_its_share_of_the_time_that_is_left_for_rounds():
    groups = [GROUP, replace(GROUP, name="other", seconds=10)]

    assert whole.seconds_for(groups, 1_000) == 30
    # 20 of 40 seconds are left for rounds.
    assert whole.seconds_for(groups, 40) == pytest.approx(15)
    assert whole.seconds_for(groups, 20) == pytest.approx(30 * whole.LEAST_SHARE)
    last = replace(GROUP, takes_the_rest=True)
    assert whole.seconds_for([last], 500) == pytest.approx(490)


def test_a_lost_group_names_each_of_its_targets_as_missed():
    found = whole.lost(GROUP, "it took longer than 90 s")

    assert [(row.against, row.wanted, row.met) for row in found.rows] == [
        ("the limit", "≥ 0.7", False), ("Redis", "≥ 3", False),
    ]  # fmt: skip
    assert not found.is_met
    assert not found.is_measured
    assert "longer than 90 s" in found.rows[0].note


def test_a_group_that_crashes_or_says_nothing_is_lost_and_the_rest_goes_on():
    found = whole.run(replace(GROUP, module="bench.no_such_bench"), 1, 30, tiny=True)

    assert [row.met for row in found.rows] == [False, False]
    assert "exit code 1" in found.rows[0].note


def test_a_group_that_takes_too_long_is_lost(tmp_path, monkeypatch):
    (tmp_path / "hanging.py").write_text("import time; time.sleep(60)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    found = whole.run(replace(GROUP, module="hanging"), 1, 1.0, tiny=True)

    assert "longer than 1 s" in found.rows[0].note


def test_an_unknown_group_is_wrong_usage_and_the_known_ones_are_named():
    done = subprocess.run(
        [sys.executable, "-m", "bench.all", "--only", "speed"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert "claims" in done.stderr
