"""Caps by hour and day hold over workers and restarts, and say when they open."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.integration.gate_worker import Worker
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.why import sentence_about
from worker.guards import limits
from worker.guards.pace import Pace, WarmUp
from worker.profiles import store
from worker.profiles.store import NewProfile


@pytest.fixture
def account(database, queue):
    """An account with ten jobs."""
    store.add_account(database, "a", by="me")
    return [queue.enqueue("visit", {}, account_id="a") for _ in range(10)]


def limit(database, **caps):
    limits.set_limit(
        database, "account:a", concurrent=None, per_minute=None, by="me", paced=Pace(**caps)
    )


def claims(database, count):
    """Claim as a worker that has just been started, for each job anew."""
    found = []
    for _ in range(count):
        with closing(Worker(database.settings)) as worker:
            found.append(worker.claim_now())
    return [claim.job_id for claim in found if claim]


def pass_time(database, minutes):
    """Let everything that was counted be so much longer ago."""
    database.run_statement(
        f"UPDATE limit_starts SET minute = minute - INTERVAL {minutes} MINUTE ORDER BY minute"
    )
    database.run_statement(
        f"UPDATE limits SET resting_until = resting_until - INTERVAL {minutes} MINUTE,"
        f" warm_since = warm_since - INTERVAL {minutes} MINUTE"
    )


def closure(database):
    closures = ClosedKeys(database)
    closures.refresh()
    return closures.closed.get("account:a")


def test_no_more_start_within_an_hour_than_may(database, account):
    limit(database, per_hour=2)

    assert claims(database, 2) == account[:2]
    # Known before anybody is refused.
    assert 3500 < closure(database).seconds <= 3660
    assert claims(database, 1) == []
    pass_time(database, 58)
    assert claims(database, 1) == []
    pass_time(database, 4)
    assert claims(database, 3) == account[2:4]


def test_no_more_start_within_a_day_than_may(database, account):
    limit(database, per_hour=2, per_day=3)

    assert claims(database, 3) == account[:2]
    pass_time(database, 62)
    assert claims(database, 2) == account[2:3]
    assert closure(database).seconds > 80_000
    pass_time(database, 24 * 60)
    assert len(claims(database, 1)) == 1


def test_a_daily_cap_grows_while_its_key_warms_up(database, account):
    limit(database, warm_up=WarmUp(1, 3, 2 * 86_400))

    assert claims(database, 2) == account[:1]
    assert "1 per day while it warms up" in closure(database).reason
    pass_time(database, 24 * 60)
    # The day before counts for another minute; then there are two a day.
    assert claims(database, 3) == account[1:2]
    pass_time(database, 2)
    assert claims(database, 3) == account[2:3]


def test_a_warm_up_that_is_set_again_as_it_was_goes_on(database, account):
    limit(database, warm_up=WarmUp(1, 3, 2 * 86_400))
    pass_time(database, 48 * 60)
    limit(database, per_hour=50, warm_up=WarmUp(1, 3, 2 * 86_400))

    assert len(claims(database, 4)) == 3
    limit(database, warm_up=WarmUp(2, 5, 2 * 86_400))
    assert claims(database, 1) == []


def test_a_job_that_names_only_a_profile_counts_for_its_account(database, queue):
    store.add(database, [NewProfile("p1", account_id="a")], "me")
    ids = [queue.enqueue("visit", {}, profile_id="p1") for _ in range(2)]
    database.run_statement("UPDATE profiles SET max_active_runs = 9")
    limit(database, per_day=1)

    assert claims(database, 2) == ids[:1]


def test_nothing_is_spent_and_why_says_when_it_goes_on(database, queue, account):
    limit(database, per_day=1)
    claims(database, 2)

    job = queue.get(account[1])
    assert (job["attempts"], job["not_before"]) == (0, None)
    said = sentence_about(database, job)
    assert "account:a is limited to 1 per day; the next may start at 20" in said


def test_a_limit_that_is_already_passed_is_counted_once_and_remembered(database, account):
    limit(database, per_day=5)
    claims(database, 2)
    limit(database, per_day=2)
    assert closure(database) is None

    assert claims(database, 1) == []
    assert closure(database).reason.startswith("account:a is limited to 2 per day")


def test_a_limit_that_is_removed_forgets_what_it_counted(database, account):
    limit(database, per_day=1)
    claims(database, 1)
    limits.clear_limit(database, "account:a")
    limit(database, per_day=1)

    assert claims(database, 2) == account[1:2]
