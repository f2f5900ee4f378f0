"""A launcher that was killed: its jobs go back as soon as anybody can know that it is."""

from __future__ import annotations

import signal

import pytest

from tests.lifecycle.conftest import processes_of, run_command, url_of, wait_until


@pytest.fixture
def abandoned(launch, queue, tasks, noted, tmp_path):
    """Two jobs in progress whose workers and launcher were killed; the leases last minutes."""
    jobs = queue.enqueue("held", {}), queue.enqueue("held", {})
    run = launch("--workers", 2, "--tasks", tasks)
    wait_until(lambda: len(noted("begun")) == 2, "both jobs have begun")
    run.signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not processes_of(tmp_path), "its whole family is gone", seconds=15)
    return jobs


def test_the_next_start_puts_the_jobs_of_a_killed_launcher_back_at_once(
    abandoned, launch, queue, tasks, noted, let_go
):
    waiting = queue.enqueue("noop", {})
    let_go()

    after = launch("--workers", 1, "--tasks", tasks, "--json")

    # Their leases would last three minutes.
    assert after.wait(60) == 0
    assert (after.summary["swept"], after.summary["done"]) == (2, 3)
    for job in abandoned:
        swept, done = queue.history(job)
        assert (swept["outcome"], done["outcome"]) == ("swept", "done")
        assert " and its launcher (run " in swept["reason"]
        assert swept["reason"].endswith(" are gone")
        assert queue.get(job)["attempts"] == 2
    assert sorted(noted("finished")) == [(abandoned[0], 2), (abandoned[1], 2), (waiting, 1)]


def test_a_reboot_frees_its_jobs_at_once_and_other_machines_jobs_are_left_to_their_lease(
    abandoned, database, queue, settings, tmp_path
):
    def sweep() -> list[str]:
        url = url_of(settings)
        done = run_command(tmp_path, "sweep", "-v", "--server-grace", 0, DATABASE_URL=url)
        return done.stdout.splitlines()

    expired, rebooted = abandoned
    (run,) = database.run_statement("SELECT machine_id FROM runs")
    if not run["machine_id"]:
        pytest.skip(
            "this machine has no name: tests/unit/recovery/test_dead_owners.py tells what follows"
        )
    database.run_statement("UPDATE runs SET boot_id = 'another', machine_id = 'another'")
    assert sweep() == ["nothing to sweep: every job in progress has a live worker"]

    database.run_statement("UPDATE runs SET heartbeat_at = heartbeat_at - INTERVAL 1 MINUTE")
    database.run_statement(
        "UPDATE work_queue SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND "
        "WHERE id = %(id)s",
        {"id": expired},
    )
    (told, _) = sweep()
    assert told.startswith(f"job {expired}: pending: worker ")
    assert " vanished: its claim was not renewed and ended " in told

    # A clone of this machine has its name, and beats on while this one has been up.
    database.run_statement("UPDATE runs SET machine_id = %(machine_id)s", run)
    assert sweep() == ["nothing to sweep: every job in progress has a live worker"]

    database.run_statement("UPDATE runs SET heartbeat_at = heartbeat_at - INTERVAL 1000 DAY")
    (told, _) = sweep()
    assert told.startswith(f"job {rebooted}: pending: worker ")
    assert told.endswith(" are gone")
    for job in abandoned:
        row = queue.get(job)
        assert (row["status"], row["attempts"]) == ("pending", 1)
