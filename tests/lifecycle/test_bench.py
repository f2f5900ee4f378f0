"""Two benches that need no browser, once and tiny: they measure what they say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bench import all as whole
from bench.groups import GROUPS
from bench.makespan import WORKERS, Layout, Yard
from bench.server import private_bench
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.system import process_tree

ROOT = Path(__file__).parents[2]
# The quickest without a browser: a few seconds each. The others: `make bench ARGS=--tiny`.
QUICK = ("claims", "export")


@pytest.mark.parametrize("name", QUICK)
def test_a_quick_group_measures_every_target_that_it_names(name):
    group = next(group for group in GROUPS if group.name == name)

    found = whole.run(group, 1, 60, tiny=True)

    assert found.is_measured, [row.note for row in found.rows]
    wanted = [row.wanted for row in found.rows if row.wanted]
    assert sorted(wanted) == sorted(target for _, target in group.targets)


def test_a_tiny_run_in_which_something_could_not_be_measured_fails(tmp_path):
    # No server can be started from this program.
    done = subprocess.run(
        [sys.executable, "-m", "bench.all", "--tiny", "--only", "failures"],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "NIGHTSHIFT_MYSQLD": str(tmp_path / "none")},
    )  # fmt: skip

    assert done.returncode == 1, done.stderr
    assert "MISSED" in done.stdout


@pytest.mark.parametrize("hears", [True, False], ids=["ends by itself", "is killed"])
def test_a_group_that_is_stopped_leaves_no_server_behind(tmp_path, monkeypatch, hears):
    script = tmp_path / "hanging.py"
    script.write_text(
        "import signal, time\n"
        "from bench import harness\n"
        "from bench.server import private_bench\n"
        "options = harness.read(harness.parser('hanging', '', seconds=1))\n"
        + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        * (not hears)
        + "with private_bench() as bench:\n"
        "    print(bench.folder, flush=True)\n"
        "    time.sleep(120)\n"
    )
    monkeypatch.setattr(whole, "STOP_SECONDS", 30 if hears else 1)
    process = subprocess.Popen(
        [sys.executable, script], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    server = PrivateServer(folder / "mysql")
    try:
        lives = process_tree.identify(server.pid() or 0)
        assert lives is not None

        whole.stop(process)

        assert process.poll() is not None
        assert not process_tree.is_alive(lives)
        assert folder.exists() is not hears
    finally:
        process.kill()
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def test_workers_that_get_no_job_count_in_the_perfect_makespan():
    layout = Layout("all ids even, nobody helps", step=2, flags=("--no-help",))
    with private_bench() as bench, closing(Database(bench.database)) as db:
        yard = Yard(bench, db, jobs=30)
        # Workers of a run before, which are not among them.
        db.run_statement(
            "INSERT INTO workers (id, run_id, slot, pid, pid_started, started_at) "
            "VALUES (1, 1, 0, 1, 1, UTC_TIMESTAMP(6) - INTERVAL 1 SECOND)"
        )
        since = db.run_statement("SELECT UTC_TIMESTAMP(6) AS now")[0]["now"]
        yard.run(layout)
        busy = db.run_statement("SELECT COUNT(DISTINCT incarnation) AS busy FROM work_queue")
        workers, first = yard._joined(layout, since)

    assert busy == [{"busy": WORKERS // 2}]
    assert [speed for _, speed in workers] == [1.0] * WORKERS
    assert min(joins for joins, _ in workers) == 0.0
    assert since < first
