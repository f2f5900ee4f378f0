"""A small storm on profiles, and two launchers on one database: never two holders of one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench import profile_storm_task
from bench.profile_storm_audit import Findings, audit
from tests.lifecycle.conftest import REPO, Launcher, clean_environment, wait_until
from tests.lifecycle.pool import worker_of
from worker.drill import finish_ledger
from worker.profiles import store
from worker.profiles.store import NewProfile
from worker.system.process_tree import kill


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
    # Every other worker was killed at an irreversible step; by the ledger none was taken twice.
    assert report["errors"] == report["half_done"] > 0
    assert report["orders"] >= report["half_done"] + 50
    assert report["ordered_twice"] == []


@pytest.mark.timeout(120)
def test_two_launchers_on_one_database_never_share_a_profile(launch, database, queue, tmp_path):
    finish_ledger.install(database)
    (tmp_path / profile_storm_task.LOCKS).mkdir()
    folders = tmp_path / "profiles"
    store.add(database, [NewProfile(f"p{n}", folder=folders / f"p{n}") for n in range(6)], "me")
    ledger = tmp_path / profile_storm_task.LEDGER

    both = launch_both(launch, tmp_path)
    # Four jobs without end, so that each of the four workers holds a profile.
    endless = enqueue(database, 1e9, range(4))
    wait_until(lambda: in_progress(database) == endless, "both pools are at work", 40)
    holders = [worker_of(database, job) for job in endless]
    enqueue(database, 0.02, range(236))
    # What each of them holds will be redone in no time.
    database.run_statement(
        "UPDATE work_queue SET payload = JSON_SET(payload, '$.max_seconds', 0.02)"
    )
    for victims in (holders[:2], holders[2:]):
        before = ends(ledger)
        for victim in victims:
            kill(victim)
        wait_until(lambda before=before: ends(ledger) > before + 40, "jobs end", 40)

    wait_until(lambda: queue.counts()["done"] == 240, "all jobs are done", 60)
    wait_until(lambda: are_available(database), "every profile has been checked", 40)
    for launcher in both:
        launcher.signal(signal.SIGTERM)
    assert [launcher.wait(60) for launcher in both] == [0, 0]
    found = Findings()
    audit(database, ledger, set(), found)
    assert found.problems == {}
    assert found.done == 240
    assert found.unexplained_endings == 4


def launch_both(launch, tmp_path) -> list[Launcher]:
    """Start two launchers of two workers each, on one database."""
    return [
        launch(
            *("run", "--if-locked", "ignore", "--workers", 2, "--total", 4, "--offset", offset),
            *("--follow",),
            *("--tasks", Path(profile_storm_task.__file__), "--max-attempts", 9),
            NIGHTSHIFT_STATE_DIR=str(tmp_path / f"state-{offset}"),
            BENCH_STORM_FOLDER=str(tmp_path),
        )
        for offset in (0, 2)
    ]


def enqueue(database, max_seconds: float, numbers: range) -> list[int]:
    """Add jobs that take so long at most, of six profiles in turn; return all pending ones."""
    payload = json.dumps({"step": None, "max_seconds": max_seconds})
    jobs = ", ".join(f"('stormy', '{payload}', 'p{n % 6}')" for n in numbers)
    database.run_statement(f"INSERT INTO work_queue (task, payload, profile_id) VALUES {jobs}")
    rows = database.run_statement("SELECT id FROM work_queue ORDER BY id")
    return [row["id"] for row in rows]


def in_progress(database) -> list[int]:
    rows = database.run_statement("SELECT id FROM work_queue WHERE status = 'in_progress'")
    return sorted(row["id"] for row in rows)


def are_available(database) -> bool:
    return not database.run_statement("SELECT id FROM profiles WHERE state <> 'available'")


def ends(ledger: Path) -> int:
    return ledger.read_bytes().count(b"end ")
