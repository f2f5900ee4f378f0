"""Hosts with `--slots auto` come, go and vanish, and the others' shares follow."""

from __future__ import annotations

import signal
import socket

import pytest

from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.pool import assert_done_once, workers
from worker.drill import finish_ledger

LEASE = "5s"


@pytest.fixture
def host(launch, tasks, tmp_path):
    """Start a run as on another machine: with its own name and its own folder."""

    def host(name, *arguments, workers=1, **how):
        return launch(
            *("--workers", workers, "--tasks", tasks, "--slots", "auto", *arguments),
            NIGHTSHIFT_HOST=name,
            NIGHTSHIFT_STATE_DIR=str(tmp_path / f"state-{name}"),
            **how,
        )

    return host


@pytest.fixture
def slots(database):
    """Read which host holds each slot, in the order of the slots."""

    def read():
        rows = database.run_statement(
            "SELECT r.host FROM slots s JOIN runs r ON r.id = s.run_id ORDER BY s.slot"
        )
        return [row["host"] for row in rows]

    return read


def test_a_host_that_is_killed_leaves_its_share_to_the_others(
    host, slots, queue, database, noted, let_go, settings, tmp_path
):
    finish_ledger.install(database)
    alpha = host("alpha", "--follow", "--lease", LEASE)
    wait_until(lambda: slots() == ["alpha"] and workers(database), "alpha has a slot")
    beta = host("beta", "--follow", "--lease", LEASE)
    wait_until(lambda: slots() == ["alpha", "beta"], "each host has one slot")
    wait_until(lambda: len(workers(database)) == 2, "both have a worker")
    held = queue.enqueue("held", {})
    wait_until(lambda: noted("begun"), "somebody has begun the job")
    (job,) = database.run_statement("SELECT worker_id FROM work_queue WHERE status = 'in_progress'")
    # The host that is killed is the one that has nothing to do.
    doing, idle = (alpha, beta) if job["worker_id"] == 0 else (beta, alpha)
    name = "alpha" if doing is alpha else "beta"
    line = f"run {1 if doing is alpha else 2} on {name}: worker {job['worker_id']} of 2"
    # A run tells with its next heartbeat that another one has joined.
    wait_until(
        lambda: line in run_command(tmp_path, "status", DATABASE_URL=url_of(settings)).stdout,
        "status names the host and its slot",
    )

    idle.signal(signal.SIGKILL)
    idle.wait()
    wait_until(lambda: slots() == [name], "the slot is free, and the other one has moved up", 60)
    let_go()
    later = [queue.enqueue("noop", {}) for _ in range(6)]
    wait_until(lambda: not queue.unfinished()["pending"], "the rest is done")
    doing.signal(signal.SIGTERM)

    assert doing.wait() == 0
    assert_done_once(database, [held, *later])
    assert {queue.get(job)["worker_id"] for job in later} == {0}
    assert slots() == []


def test_hosts_that_start_together_drain_one_queue_and_give_their_slots_back(
    host, slots, queue, database
):
    finish_ledger.install(database)
    jobs = [queue.enqueue("noop", {}) for _ in range(60)]

    both = [host(name, "--json", workers=2) for name in ("alpha", "beta")]

    assert [run.wait(60) for run in both] == [0, 0], both[0].output + both[1].output
    assert_done_once(database, jobs)
    assert slots() == []
    shown = [{each["slot"] for each in run.summary["workers"]} for run in both]
    assert all(len(each) == 2 for each in shown)


def test_a_host_that_finds_no_free_slot_leaves_the_work_to_the_others(host, slots, queue, noted):
    queue.enqueue("held", {})
    alpha = host("alpha", "--total", 1)
    wait_until(lambda: noted("begun"), "alpha is at work")

    skipping = host("beta")
    assert skipping.wait() == 0
    failing = host("beta", "--if-locked", "fail", workers=2)
    assert failing.wait() == 75
    (line,) = skipping.stderr.splitlines()
    assert "all slots are taken: alpha has 0; this run leaves the jobs to it" in line
    assert alpha.is_running
    assert slots() == ["alpha"]


def test_a_host_that_waits_for_a_slot_gets_the_first_that_is_free(
    host, slots, queue, noted, let_go
):
    queue.enqueue("held", {})
    alpha = host("alpha", "--total", 1)
    wait_until(lambda: noted("begun"), "alpha is at work")
    beta = host("beta", "--if-locked", "wait", "--follow")
    wait_until(lambda: "waiting" in beta.stderr, "beta waits")

    let_go()

    assert alpha.wait() == 0
    wait_until(lambda: slots() == ["beta"], "beta has the slot")
    beta.signal(signal.SIGTERM)
    assert beta.wait() == 0


def test_a_host_with_more_workers_than_free_slots_starts_only_some(host, slots, queue, database):
    host("alpha", "--total", 2, "--follow")
    wait_until(lambda: slots() == ["alpha"], "alpha has its slot")

    beta = host("beta", "--follow", workers=3)

    wait_until(lambda: slots() == ["alpha", "beta"], "beta has what is left")
    wait_until(lambda: len(workers(database)) == 2, "two workers are at work")
    beta.signal(signal.SIGTERM)
    assert beta.wait() == 0
    assert "worker 1: 0 done" in beta.stdout
    assert beta.stdout.count("worker ") == 1


def test_an_indexed_host_counts_its_offset_from_its_number(launch, queue, tasks, database):
    jobs = [queue.enqueue("noop", {}) for _ in range(4)]

    run = launch(
        *("--workers", 2, "--total", 6, "--slots", "indexed", "--tasks", tasks, "--json"),
        JOB_COMPLETION_INDEX="2",
    )

    assert run.wait() == 0, run.output
    assert [each["slot"] for each in run.summary["workers"]] == [4, 5]
    assert {queue.get(job)["worker_id"] for job in jobs} <= {4, 5}


def test_an_indexed_host_without_a_number_says_what_to_do(launch):
    run = launch("--slots", "indexed", "--workers", 1, "--total", 3, NIGHTSHIFT_HOST="laptop")

    assert run.wait() == 78
    (line,) = run.stderr.splitlines()
    assert "JOB_COMPLETION_INDEX is not set, and its name 'laptop' does not end with one" in line
    assert socket.gethostname() not in line
