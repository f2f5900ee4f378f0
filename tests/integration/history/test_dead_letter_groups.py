"""Failures are grouped by fingerprint, the largest group first."""

from __future__ import annotations

import pytest

from tests.integration.history.conftest import MISSING, TIMEOUT, age
from worker.history import archive, dead_letters
from worker.history.archive import EARLIEST as EVER


def test_failures_are_grouped_by_fingerprint_the_largest_group_first(database, queue, fail):
    small = fail(MISSING, "HTTP 404", url="https://b.example/x")
    fail()
    last = fail()
    queue.enqueue("visit", {})

    first, second = dead_letters.groups(database, EVER)

    assert (first["fingerprint"], first["jobs"], first["sample_job"]) == (TIMEOUT, 2, last)
    assert (first["task"], first["label"], first["evidence"]) == ("visit", "visit: it", f"{last}/1")
    assert first["first_seen"] < first["last_seen"]
    assert (second["fingerprint"], second["jobs"], second["sample_job"]) == (MISSING, 1, small)


def test_what_was_done_after_all_is_in_no_group(database, queue, claim_as, fail, scope):
    fail()
    assert dead_letters.retry(database, scope(group=TIMEOUT)) == 1
    queue.complete(claim_as(), {})

    assert dead_letters.groups(database, EVER) == []
    assert dead_letters.jobs_of_group(database, TIMEOUT, 10) == []
    assert dead_letters.count(database, scope(group=TIMEOUT)).jobs == 0


def test_a_job_set_to_error_by_hand_is_listed_without_a_group(database, queue, scope):
    queue.enqueue("visit", {})
    database.run_statement("UPDATE work_queue SET status = 'error', last_error = 'by hand'")

    (group,) = dead_letters.groups(database, EVER)

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


def test_a_group_is_new_when_first_seen_since_a_moment(database, fail):
    fail(MISSING)
    run_id = begin_run(database)
    evening = archive.now(database)
    fail(MISSING)
    fail(TIMEOUT)

    told = {
        row["fingerprint"]: bool(row["is_new"]) for row in dead_letters.groups(database, evening)
    }
    assert told == {MISSING: False, TIMEOUT: True}
    # Of this run, only what failed since it began.
    assert dead_letters.groups_of_run(database, run_id, 3, evening) == [
        {"group": TIMEOUT, "jobs": 1, "label": "visit: it", "is_new": True},
        {"group": MISSING, "jobs": 1, "label": "visit: it", "is_new": False},
    ]
    assert len(dead_letters.groups_of_run(database, run_id, 1, evening)) == 1
    dead_letters.mute(database, TIMEOUT, by="me", reason="known")
    found = dead_letters.groups_of_run(database, run_id, 3, evening)
    assert [group["group"] for group in found] == [MISSING]


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        (
            "last_error = 'Traceback\n  x.py:1\nTimeoutError: no .price\n'",
            "TimeoutError: no .price",
        ),
        ("last_error = NULL", "error; no reason was kept"),
        ("last_error = '', fence = 99", "no reason was kept"),
    ],
)
def test_a_group_without_a_reason_is_told_by_what_is_known(database, queue, fail, changes, label):
    fail()
    database.run_statement("UPDATE job_attempts SET reason = NULL")
    database.run_statement(f"UPDATE work_queue SET fingerprint = NULL, {changes}")

    (group,) = dead_letters.groups(database, EVER)

    assert group["label"] == label


def test_only_recent_failures_are_grouped_when_asked(database, fail):
    age(database, fail(MISSING), 7)
    fail(TIMEOUT)

    recent = dead_letters.groups(database, EVER, since_seconds=6 * 3600)

    assert [group["fingerprint"] for group in recent] == [TIMEOUT]
    assert len(dead_letters.groups(database, EVER, since_seconds=10**15)) == 2
