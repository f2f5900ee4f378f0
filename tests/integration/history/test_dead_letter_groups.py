"""Failures are grouped by fingerprint, and a group is new or old by the runs that worked."""

from __future__ import annotations

from tests.integration.history.conftest import MISSING, TIMEOUT, age
from worker.history import dead_letters
from worker.queue import runs


def test_failures_are_grouped_by_fingerprint_the_largest_group_first(database, queue, fail):
    small = fail(MISSING, "HTTP 404", url="https://b.example/x")
    fail()
    last = fail()
    queue.enqueue("visit", {})

    first, second = dead_letters.groups(database)

    assert (first["fingerprint"], first["jobs"], first["sample_job"]) == (TIMEOUT, 2, last)
    assert (first["task"], first["label"], first["evidence"]) == ("visit", "visit: it", f"{last}/1")
    assert first["first_seen"] < first["last_seen"]
    assert (second["fingerprint"], second["jobs"], second["sample_job"]) == (MISSING, 1, small)


def test_what_was_done_after_all_is_in_no_group(database, queue, claim_as, fail, scope):
    fail()
    assert dead_letters.retry(database, scope(group=TIMEOUT)) == 1
    queue.complete(claim_as(), {})

    assert dead_letters.groups(database) == []
    assert dead_letters.jobs_of_group(database, TIMEOUT, 10) == []
    assert dead_letters.count(database, scope(group=TIMEOUT)).jobs == 0


def test_a_job_set_to_error_by_hand_is_listed_without_a_group(database, queue, scope):
    queue.enqueue("visit", {})
    database.run_statement("UPDATE work_queue SET status = 'error', last_error = 'by hand'")

    (group,) = dead_letters.groups(database)

    assert (group["fingerprint"], group["jobs"], group["label"]) == (None, 1, "by hand")
    assert dead_letters.retry(database, scope("task=visit")) == 1
    assert queue.counts()["pending"] == 1


def begin_run(database):
    database.run_statement(
        "INSERT INTO runs (host, machine_id, boot_id, pid_namespace, pid, pid_started, first_slot, "
        "workers, total, started_at, heartbeat_at) VALUES ('h', 'm', 'b', 1, 1, 1, 0, 1, 1, "
        "UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))"
    )
    return database.run_statement("SELECT MAX(id) AS id FROM runs")[0]["id"]


def are_new(database):
    return {group["fingerprint"]: bool(group["is_new"]) for group in dead_letters.groups(database)}


def test_a_group_is_new_when_first_seen_since_the_latest_run_began(database, fail):
    fail(MISSING)
    assert are_new(database) == {MISSING: False}
    run_id = begin_run(database)
    fail(MISSING)
    fail(TIMEOUT)

    assert are_new(database) == {MISSING: False, TIMEOUT: True}
    # Of this run, only what failed since it began.
    assert dead_letters.groups_of_run(database, run_id, 3) == [
        {"group": TIMEOUT, "jobs": 1, "label": "visit: it", "is_new": True},
        {"group": MISSING, "jobs": 1, "label": "visit: it", "is_new": False},
    ]
    assert len(dead_letters.groups_of_run(database, run_id, 1)) == 1
    dead_letters.mute(database, TIMEOUT, by="me", reason="known")
    assert [group["group"] for group in dead_letters.groups_of_run(database, run_id, 3)] == [
        MISSING
    ]


def test_a_run_that_found_nothing_to_do_makes_no_group_old(database, fail):
    fail(MISSING)
    night = begin_run(database)
    fail(TIMEOUT)
    runs.end_run(database, night, {"done": 0, "failed": 1, "retried": 0})
    empty = begin_run(database)

    # While it is going on, and when it has ended.
    assert are_new(database) == {MISSING: False, TIMEOUT: True}
    runs.end_run(database, empty, {"done": 0, "failed": 0, "retried": 0})
    assert are_new(database) == {MISSING: False, TIMEOUT: True}


def test_a_run_that_did_something_makes_what_was_before_it_old(database, queue, claim_as, fail):
    runs.end_run(database, begin_run(database), {"done": 1, "failed": 0, "retried": 0})
    fail(TIMEOUT)
    assert are_new(database) == {TIMEOUT: True}

    begin_run(database)
    assert are_new(database) == {TIMEOUT: True}
    queue.enqueue("visit", {})
    queue.complete(claim_as(), {})

    assert are_new(database) == {TIMEOUT: False}


def test_a_run_killed_after_its_work_makes_what_was_before_it_old(database, fail):
    fail(MISSING)
    # It left no summary.
    begin_run(database)
    fail(TIMEOUT)
    runs.end_run(database, begin_run(database), {"done": 0, "failed": 0, "retried": 0})

    assert are_new(database) == {MISSING: False, TIMEOUT: True}


def test_only_recent_failures_are_grouped_when_asked(database, fail):
    age(database, fail(MISSING), 7)
    fail(TIMEOUT)

    recent = dead_letters.groups(database, since_seconds=6 * 3600)

    assert [group["fingerprint"] for group in recent] == [TIMEOUT]
    assert len(dead_letters.groups(database, since_seconds=10**15)) == 2
