"""Orders, windows and paces in whole runs of the real launcher."""

from __future__ import annotations

import os
import signal
from datetime import timedelta

from tests.lifecycle.conftest import wait_until
from worker.guards import limits
from worker.guards.pace import Pace
from worker.profiles import account_rules, store
from worker.profiles.account_rules import Change


def closed_for_hours(database, account):
    """Give an account a window that opens in two hours."""
    store.add_account(database, account, by="me")
    now = database.fetch_all("database_time")[0]["now"]
    begin, end = now + timedelta(hours=2), now + timedelta(hours=3)
    change = Change(windows=(f"{begin:%H:%M}-{end:%H:%M}",), timezone="UTC")
    account_rules.set_rules(database, account, change, by="me")


def test_jobs_of_one_key_are_done_by_id_over_all_slots(launch, queue, tasks, noted):
    ids = [queue.enqueue("noop", {}, order_key="k") for _ in range(12)]
    others = [queue.enqueue("noop", {}) for _ in range(6)]

    assert launch("--workers", 3, "--tasks", tasks).wait() == 0

    done = [job_id for job_id, _ in noted("finished")]
    assert [job_id for job_id in done if job_id in ids] == ids
    assert sorted(done) == sorted(ids + others)


def test_an_order_survives_the_death_of_the_worker_that_does_its_first_job(
    launch, queue, tasks, noted, let_go
):
    first, second, third = (queue.enqueue("held", {}, order_key="k") for _ in range(3))
    run = launch("--workers", 2, "--tasks", tasks, "--retry-delay", "0")
    wait_until(lambda: noted("begun"), "the first is begun")
    assert [job_id for job_id, _ in noted("begun")] == [first]
    incarnation = queue.get(first)["incarnation"]
    rows = queue.database.run_statement(f"SELECT pid FROM workers WHERE id = {incarnation}")
    os.kill(rows[0]["pid"], signal.SIGKILL)
    wait_until(lambda: len(noted("begun")) == 2, "it is begun again")
    let_go()

    assert run.wait() == 0, run.output
    assert [job_id for job_id, _ in noted("begun")] == [first, first, second, third]


def test_a_run_ends_behind_a_failed_job_of_an_order_and_says_so(launch, queue, tasks):
    first = queue.enqueue("no_such_task", {}, order_key="k", max_attempts=1)
    for _ in range(3):
        queue.enqueue("noop", {}, order_key="k")

    run = launch("--workers", 2, "--tasks", tasks)

    assert run.wait() == 11, run.output
    assert f"held back: 3 jobs: job {first} failed and its order waits" in run.stdout


def test_a_window_that_opens_too_late_holds_its_jobs_back(launch, database, queue, tasks):
    closed_for_hours(database, "a1")
    job_id = queue.enqueue("noop", {}, account_id="a1")

    run = launch("--workers", 1, "--tasks", tasks)

    assert run.wait() == 11, run.output
    assert "held back: 1 job: account a1 is outside its windows until" in run.stdout
    assert queue.get(job_id)["attempts"] == 0


def test_a_run_waits_for_a_window_that_opens_in_time(launch, database, queue, tasks):
    closed_for_hours(database, "a1")
    job_id = queue.enqueue("noop", {}, account_id="a1")
    run = launch("--workers", 1, "--tasks", tasks, "--wait-retries", "5h")
    wait_until(
        lambda: database.run_statement("SELECT 1 FROM workers"), "the worker has looked around"
    )

    account_rules.set_rules(database, "a1", Change(is_always=True), by="me")

    assert run.wait() == 0, run.output
    assert (queue.get(job_id)["status"], queue.get(job_id)["attempts"]) == ("done", 1)


def test_a_pace_holds_over_two_launchers(launch, database, queue, tasks, noted):
    store.add_account(database, "a1", by="me")
    paced = Pace(per_day=3)
    limits.set_limit(database, "account:a1", concurrent=None, per_minute=None, by="me", paced=paced)
    for _ in range(6):
        queue.enqueue("noop", {}, account_id="a1")

    runs = [launch("--workers", 2, "--tasks", tasks, "--if-locked", "ignore") for _ in range(2)]

    assert [run.wait() for run in runs] == [11, 11]
    assert len(noted("finished")) == 3
    assert "held back: 3 jobs: account:a1 is limited to 3 per day" in runs[0].stdout
