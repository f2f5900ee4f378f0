"""A small storm on profiles, and two launchers on one database: never two holders of one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench import profile_storm_task
from bench.profile_storm_audit import Findings, audit
from tests.lifecycle.conftest import REPO, clean_environment, wait_until
from tests.lifecycle.pool import workers
from worker.drill import finish_ledger
from worker.profiles import store
from worker.profiles.store import NewProfile


@pytest.mark.timeout(240)
def test_a_small_storm_on_profiles_comes_out_clean(tmp_path):
    size = ("--jobs", 600, "--profiles", 40, "--workers", 6, "--kills", 6, "--launcher-kills", 1)
    storm = subprocess.run(
        [sys.executable, "-m", "bench.profile_storm", "--json", "--seed", "7", *map(str, size)],
        cwd=REPO,
        env=clean_environment(tmp_path),
        stdout=subprocess.PIPE,
        timeout=200,
        check=False,
    )

    report = json.loads(storm.stdout)
    assert storm.returncode == 0, report
    assert report["done"] + report["errors"] == report["jobs"] >= 600
    assert report["workers_killed"] == 6
    assert report["unexplained_endings"] == report["checked"] + report["set_aside"]
    assert report["late_writes_refused"] > 0


@pytest.mark.timeout(120)
def test_two_launchers_on_one_database_never_share_a_profile(launch, database, tmp_path):
    finish_ledger.install(database)
    (tmp_path / profile_storm_task.LOCKS).mkdir()
    folders = tmp_path / "profiles"
    store.add(database, [NewProfile(f"p{n}", folder=folders / f"p{n}") for n in range(6)], "me")
    payload = json.dumps({"step": None, "max_seconds": 0.02})
    jobs = ", ".join(f"('stormy', '{payload}', 'p{n % 6}')" for n in range(240))
    database.run_statement(f"INSERT INTO work_queue (task, payload, profile_id) VALUES {jobs}")
    ledger = tmp_path / profile_storm_task.LEDGER

    both = [
        launch(
            *("run", "--if-locked", "ignore", "--workers", 2, "--total", 4, "--offset", offset),
            *("--tasks", Path(profile_storm_task.__file__), "--max-attempts", 9),
            NIGHTSHIFT_STATE_DIR=str(tmp_path / f"state-{offset}"),
            NIGHTSHIFT_STORM_FOLDER=str(tmp_path),
        )
        for offset in (0, 2)
    ]
    wait_until(lambda: len(workers(database)) == 4, "both pools work", 40)
    wait_until(lambda: ledger.exists() and ledger.read_bytes().count(b"end ") > 40, "jobs end", 40)
    os.kill(workers(database)[1].pid, signal.SIGKILL)

    assert [launcher.wait(60) for launcher in both] == [0, 0]
    found = Findings()
    audit(database, ledger, set(), found)
    # A killed worker's profile may still wait for its check when nothing else is left to do.
    found.left_over = [item for item in found.left_over if "is stale" not in item]
    assert found.problems == {}
    assert found.done == 240
    pids = {line.split()[5] for line in ledger.read_text(encoding="ascii").splitlines()}
    assert len(pids) >= 4
