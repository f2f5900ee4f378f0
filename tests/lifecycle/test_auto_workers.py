"""`--workers auto`: real workers come while that pays, and rest when the machine is short."""

from __future__ import annotations

import json
import signal

import pytest

from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.pool import assert_done_once, workers
from worker.drill import finish_ledger

# What the launcher reads of the machine is a file that the test writes.
PROGRAM = """
import json, pathlib
from worker.supervisor import head_count
from worker.system import headroom
head_count.PATIENCE_SECONDS = 3.0
file = pathlib.Path({file!r})
headroom.Headroom.look = lambda self: headroom.Spare(**json.loads(file.read_text()))
headroom.Headroom.cores = lambda self: 2
from worker.cli.main import main
main()
"""
IDLE = {"cpu": 0.9, "memory_mb": 16_000, "memory_share": 0.8, "shm_mb": 8_000}
FULL = {**IDLE, "cpu": 0.0}
SCARCE = {**IDLE, "memory_mb": 50, "memory_share": 0.01}


@pytest.fixture
def machine(tmp_path):
    """Say what is free on the machine from now on."""

    def machine(spare):
        new = tmp_path / "machine.new"
        new.write_text(json.dumps(spare), encoding="ascii")
        new.rename(tmp_path / "machine")

    machine(IDLE)
    return machine


@pytest.fixture
def auto(launch, tasks, tmp_path):
    def auto(*arguments, workers="auto:5", **how):
        program = PROGRAM.format(file=str(tmp_path / "machine"))
        arguments = ("--workers", workers, "--tasks", tasks, *arguments)
        return launch("run", *arguments, program=("-c", program), **how)

    return auto


def test_workers_come_while_they_pay_and_every_job_is_done_once(
    auto, machine, queue, database, settings, tmp_path
):
    finish_ledger.install(database)
    jobs = [queue.enqueue("napping", {"seconds": 0.2}) for _ in range(600)]

    run = auto("--json")
    wait_until(lambda: len(workers(database)) == 5, "there are five workers", 60)
    wait_until(
        lambda: "workers 0–4 of 5" in status(settings, tmp_path), "the status tells how many"
    )

    assert run.wait(60) == 0
    assert_done_once(database, jobs)
    found = run.summary["auto_workers"]
    assert (found["number"], found["first"], found["limit"]) == (5, 2, 5)
    assert run.summary["crashes"] == 0
    assert "4 workers from now on, after 2: 90% of the processor time is free" in run.stderr


def status(settings, tmp_path):
    return run_command(tmp_path, "status", DATABASE_URL=url_of(settings)).stdout


def test_where_memory_is_short_workers_rest_after_their_jobs_and_the_others_do_the_rest(
    auto, machine, queue, database, noted, let_go, settings, tmp_path
):
    finish_ledger.install(database)
    machine(FULL)
    held = [queue.enqueue("held", {}) for _ in range(2)]
    run = auto("--follow", "--json")
    wait_until(lambda: len(noted("begun")) == 2, "both workers are at work")

    machine(SCARCE)
    wait_until(lambda: "1 worker from now on, after 2" in run.stderr, "one of them is to rest")
    wait_until(lambda: "worker 0 of 1" in status(settings, tmp_path), "the status tells that")
    # It has its job still: nothing is taken from it.
    assert len(workers(database)) == 2
    let_go()
    wait_until(lambda: len(workers(database)) == 1, "it has ended")
    later = [queue.enqueue("noop", {}) for _ in range(8)]
    wait_until(lambda: not queue.unfinished()["pending"], "the other one does all the rest")
    run.signal(signal.SIGTERM)

    assert run.wait() == 0
    assert_done_once(database, held + later)
    assert {queue.get(job)["worker_id"] for job in later} == {0}
    assert [queue.get(job)["attempts"] for job in held + later] == [1] * 10
    assert (run.summary["crashes"], run.summary["handed_back"]) == (0, 0)
    assert run.summary["auto_workers"]["number"] == 1
    assert "worker 1 ended: it rests" in run.stderr


def test_a_worker_that_rested_comes_again_and_the_run_ends_by_itself(
    auto, machine, queue, database
):
    machine(FULL)
    jobs = [queue.enqueue("napping", {"seconds": 0.2}) for _ in range(250)]
    run = auto(workers="auto:3")
    wait_until(lambda: len(workers(database)) == 2, "both are there", 60)
    machine(SCARCE)
    wait_until(lambda: "worker 1 ended: it rests" in run.stderr, "one rests", 60)

    machine(IDLE)

    assert run.wait(90) == 0
    assert "2 workers from now on, after 1" in run.stderr
    assert "settled on" in run.stdout
    assert {queue.get(job)["status"] for job in jobs} == {"done"}


def test_hosts_that_share_slots_get_as_many_as_pay(auto, machine, queue, database, tmp_path):
    jobs = [queue.enqueue("napping", {"seconds": 0.2}) for _ in range(500)]
    runs = [
        auto(
            *("--slots", "auto"),
            workers="auto:3",
            NIGHTSHIFT_HOST=name,
            NIGHTSHIFT_STATE_DIR=str(tmp_path / f"state-{name}"),
        )
        for name in ("alpha", "beta")
    ]
    wait_until(
        lambda: database.run_statement("SELECT COUNT(*) AS n FROM slots")[0]["n"] == 6,
        "both hosts have three slots", 60,
    )  # fmt: skip

    assert [run.wait(90) for run in runs] == [0, 0]
    assert {queue.get(job)["status"] for job in jobs} == {"done"}
