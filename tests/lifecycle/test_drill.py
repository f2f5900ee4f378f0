"""The drill itself: a small one comes out clean, and whatever it starts is gone afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lifecycle.conftest import REPO, clean_environment, processes_of, wait_until
from worker.drill import scratch


def drill(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "launcher.py", "drill", *map(str, arguments)],
        cwd=REPO,
        env=clean_environment(folder),
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.timeout(180)
def test_a_small_drill_loses_nothing_and_leaves_nothing(tmp_path):
    run = drill(tmp_path, "--jobs", 300, "--faults", 8, "--workers", 3, "--seed", 7, "--json")
    out, _ = run.communicate(timeout=150)

    report = json.loads(out)
    assert run.returncode == 0, report
    assert report["is_clean"] is True
    assert report["faults"] == 8
    found = report["findings"]
    assert found["jobs"] == found["done"] + found["errors_wanted"] + found["errors_poison"] == 300
    assert found["errors_wanted"] > 0
    assert found["outcomes"]["retry"] > 0
    assert (found["lost"], found["finished_twice"], found["overlapping"]) == ([], [], [])
    assert (found["good_in_error"], found["broken_promises"]) == ([], [])
    assert_nothing_is_left(tmp_path)


def test_a_drill_that_is_interrupted_removes_everything(tmp_path):
    run = drill(tmp_path, "--jobs", 5000, "--faults", 0, "--workers", 2)
    wait_until(lambda: list(tmp_path.glob("state/drill/*/ledger")), "jobs are being done", 40)
    assert processes_of(tmp_path)

    os.kill(run.pid, signal.SIGINT)
    run.communicate(timeout=40)

    assert run.returncode == 130
    assert_nothing_is_left(tmp_path)


def test_a_drill_removes_what_a_killed_one_has_left(tmp_path):
    run = drill(tmp_path, "--jobs", 5000, "--faults", 0, "--workers", 1)
    wait_until(lambda: list(tmp_path.glob("state/drill/*/ledger")), "jobs are being done", 40)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=40)
    assert processes_of(tmp_path), "its server, at least, lives on"

    scratch.remove_abandoned(tmp_path / "state" / "drill")

    assert_nothing_is_left(tmp_path)


def assert_nothing_is_left(folder: Path) -> None:
    assert list((folder / "state" / "drill").glob("*")) == []
    wait_until(lambda: not processes_of(folder), "every process is gone", seconds=15)
