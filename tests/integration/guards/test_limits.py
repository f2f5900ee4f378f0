"""Limits: what may not be claimed is not, on any host, and costs nothing."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from dataclasses import replace

import pytest

from tests.integration.gate_worker import OTHER, SHOP, Worker
from worker.errors import UsageError
from worker.guards import breakers, limits
from worker.profiles import store
from worker.profiles.store import NewProfile


def test_the_site_of_a_job_is_the_host_of_its_url(queue, database):
    expected = {
        SHOP: "shop.example",
        OTHER: "other.example",
        "HTTPS://User:Pass@Shop.Example#top": "shop.example",
        "http://a.example?x=1": "a.example",
        "about:blank": None,
        "data:text/html,http://x.example/": None,
    }
    ids = {queue.enqueue("visit", {"url": url}): site for url, site in expected.items()}
    ids[queue.enqueue("visit", {"urls": [SHOP]})] = None
    ids[queue.enqueue("visit", [SHOP])] = None

    assert {i: queue.get(i)["site"] for i in ids} == ids


def test_the_site_of_a_job_of_steps_is_the_host_of_its_first_goto(queue, database):
    fill = {"fill": {"#user": "http://filled.example/"}}
    expected = [
        ({"steps": [{"goto": SHOP}, fill, {"goto": OTHER}]}, "shop.example"),
        ({"steps": [fill, {"goto": "HTTP://me:pw@WWW.Shop.Example:81/x"}]}, "shop.example"),
        ({"url": OTHER, "steps": [{"goto": SHOP}]}, "other.example"),
        ({"steps": [{"goto": "about:blank"}, {"goto": SHOP}]}, None),
        ({"steps": [{"goto": {"href": SHOP}}]}, None),
        ({"steps": [fill]}, None),
        ({"steps": {"goto": SHOP}}, None),
        ({"steps": []}, None),
        ({"steps": "goto"}, None),
    ]
    ids = {queue.enqueue("steps", payload): site for payload, site in expected}

    assert {i: queue.get(i)["site"] for i in ids} == ids


def test_jobs_of_steps_keep_to_the_limit_of_their_site(database, queue, worker):
    limits.set_limit(database, "site:shop.example", concurrent=1, per_minute=None, by="me")
    for _ in range(3):
        queue.enqueue("steps", {"steps": [{"goto": SHOP}]})
    queue.enqueue("steps", {"steps": [{"goto": OTHER}]})

    assert [worker.claim().site, worker.claim().site] == ["shop.example", "other.example"]
    assert worker.claim_now() is None


def test_a_site_runs_no_more_jobs_at_once_than_its_limit(database, queue, worker):
    limits.set_limit(database, "site:shop.example", concurrent=2, per_minute=None, by="me")
    for _ in range(5):
        queue.enqueue("visit", {"url": SHOP})
    other = queue.enqueue("visit", {"url": OTHER})

    claims = [worker.claim(), worker.claim()]
    third = worker.claim()

    assert third is not None
    assert third.job_id == other
    assert worker.claim_now() is None
    worker.queue.complete(claims[0], {})
    assert worker.claim_now() is not None
    assert worker.claim_now() is None


def test_many_claimers_at_once_never_pass_a_limit(database, queue):
    limits.set_limit(database, "site:shop.example", concurrent=3, per_minute=None, by="me")
    limits.set_limit(database, "global", concurrent=4, per_minute=None, by="me")
    for _ in range(40):
        queue.enqueue("visit", {"url": SHOP})
    most, lock, running = [0], threading.Lock(), [0]

    def work(slot: int) -> None:
        with closing(Worker(database.settings, slot, 8)) as worker:
            deadline = time.monotonic() + 60
            while queue_is_open.is_set() and time.monotonic() < deadline:
                if (claim := worker.claim_now()) is None:
                    continue
                with lock:
                    running[0] += 1
                    most[0] = max(most[0], running[0])
                # The first one waits for company, so that there is something to be counted.
                while most[0] < 2 and time.monotonic() < deadline:
                    time.sleep(0.005)
                time.sleep(0.005)
                with lock:
                    running[0] -= 1
                worker.queue.complete(claim, {})

    queue_is_open = threading.Event()
    queue_is_open.set()
    threads = [threading.Thread(target=work, args=(slot,)) for slot in range(8)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    while queue.counts()["done"] < 40 and time.monotonic() < deadline:
        time.sleep(0.05)
    queue_is_open.clear()
    for thread in threads:
        thread.join()

    assert queue.counts()["done"] == 40
    assert 2 <= most[0] <= 3


def test_a_rate_spaces_the_starts_of_a_key(database, queue, worker):
    limits.set_limit(database, "task:visit", concurrent=None, per_minute=600, by="me")
    for _ in range(6):
        queue.enqueue("visit", {"url": OTHER})

    def starts_at(seconds: float) -> int:
        # The session's own clock, which stands still: time passes when the test says so.
        worker.db.run_statement(f"SET timestamp = {1_000_000_000 + seconds}")
        return sum(worker.claim_now() is not None for _ in range(2))

    assert [starts_at(seconds) for seconds in (0, 0.09, 0.11, 0.2, 0.22)] == [1, 0, 1, 0, 1]
    # What was not started meanwhile is not made up for.
    assert [starts_at(seconds) for seconds in (60, 60.09, 60.11)] == [1, 0, 1]


@pytest.mark.parametrize("key", ["", "example.com", "host:x", "site:", "planet:mars"])
def test_what_cannot_be_limited_is_said(database, key):
    with pytest.raises(UsageError, match="cannot be limited"):
        limits.set_limit(database, key, concurrent=1, per_minute=None, by="me")


def test_a_limit_can_be_named_by_an_address(database):
    limits.set_limit(
        database, "site:https://WWW.Shop.example/x", concurrent=1, per_minute=None, by=""
    )
    assert limits.all_limits(database)[0][0]["name"] == "site:shop.example"
    assert limits.clear_limit(database, "site:shop.example")
    assert not limits.clear_limit(database, "site:shop.example")


def test_ten_thousand_jobs_of_a_closed_key_are_passed_in_one_search(database, queue, worker):
    queue.enqueue_many("visit", ({"url": SHOP} for _ in range(10_000)))
    ids = [queue.enqueue("visit", {"url": OTHER}) for _ in range(3)]
    breakers.open_by_hand(database, "site:shop.example", None, "closed", "me")

    claims = [worker.claim() for _ in range(3)]

    assert [claim.job_id for claim in claims if claim] == ids


def _jobs_of_an_account(database, queue) -> list[int]:
    """Add a job that names the account, and jobs that name only profiles of it."""
    store.add(database, [NewProfile(name, account_id="a1") for name in ("p1", "p2", "p3")], "me")
    ids = [queue.enqueue("visit", {"url": OTHER}) for _ in range(4)]
    for job_id, column in zip(ids, ("profile_id = 'p1'", "profile_id = 'p2'"), strict=False):
        database.run_statement(f"UPDATE work_queue SET {column} WHERE id = {job_id}")
    database.run_statement(f"UPDATE work_queue SET account_id = 'a1' WHERE id = {ids[2]}")
    return ids


def test_a_job_that_names_only_a_profile_counts_against_its_accounts_limit(database, queue, worker):
    limits.set_limit(database, "account:a1", concurrent=1, per_minute=None, by="me")
    ids = _jobs_of_an_account(database, queue)

    first, second = worker.claim_now(), worker.claim_now()

    assert (first.job_id, first.profile_id) == (ids[0], "p1")
    assert second.job_id == ids[3], "the account's other jobs wait, and hold up nobody else"
    assert worker.claim_now() is None
    assert "account:a1 is limited to 1 at once" in worker.closures.closed["profile:p2"].reason
    worker.queue.complete(first, {})
    assert worker.claim_now().job_id == ids[1]
    assert worker.claim_now() is None


def test_the_gate_refuses_a_profiles_job_by_its_accounts_limit_before_searches_know(
    database, queue, worker
):
    limits.set_limit(database, "account:a1", concurrent=1, per_minute=None, by="me")
    ids = _jobs_of_an_account(database, queue)
    with closing(Worker(database.settings)) as other:
        other.owner = replace(other.owner, incarnation=2000)
        # It has read that there is room, and cannot know yet what the other takes.
        assert worker.candidates.has_next()

        assert other.claim().job_id == ids[0]
        assert worker.claim().job_id == ids[3]
        assert "account:a1" in worker.closures.closed["profile:p2"].reason


def test_the_starts_of_a_profiles_jobs_are_spaced_by_its_accounts_rate(database, queue, worker):
    limits.set_limit(database, "account:a1", concurrent=None, per_minute=1, by="me")
    ids = _jobs_of_an_account(database, queue)

    assert [worker.claim_now().job_id for _ in range(2)] == [ids[0], ids[3]]
    assert worker.claim_now() is None


def test_every_start_writes_the_rows_of_its_limits(queue, database, worker):
    limits.set_limit(database, "global", concurrent=5, per_minute=None, by="test")
    limits.set_limit(database, "task:visit", concurrent=5, per_minute=600, by="test")
    limits.set_limit(database, "task:other", concurrent=5, per_minute=None, by="test")
    queue.enqueue("visit", {"url": SHOP})

    assert worker.claim_now() is not None

    rows = database.run_statement("SELECT name, starts FROM limits ORDER BY name")
    assert {row["name"]: row["starts"] for row in rows} == {
        "global": 1,
        "task:other": 0,
        "task:visit": 1,
    }
