"""Lists of jobs: by what they are, in both orders, page by page."""

from __future__ import annotations

from datetime import timedelta

import pytest

from worker.history import archive, listing
from worker.history.listing import NEWEST, OLDEST, Wanted


@pytest.fixture
def listed(database):
    def listed(wanted=None, **how):
        return [row["id"] for row in listing.read(database, wanted or Wanted(), **how)]

    return listed


def test_jobs_are_listed_in_both_orders_and_page_by_page(queue, listed):
    ids = [queue.enqueue("visit", {}) for _ in range(5)]

    assert listed() == ids[::-1]
    assert listed(order=OLDEST) == ids
    assert listed(limit=2) == [ids[4], ids[3]]
    assert listed(limit=2, after=ids[3]) == [ids[2], ids[1]]
    assert listed(order=OLDEST, limit=2, after=ids[1]) == [ids[2], ids[3]]


@pytest.mark.parametrize("order", [NEWEST, OLDEST])
def test_each_filter_finds_its_jobs(queue, claim_as, listed, order):
    site = queue.enqueue("visit", {"url": "https://www.e.org/a"})
    task = queue.enqueue("price", {})
    other = queue.enqueue("visit", {}, queue="slow")
    batch = queue.enqueue("visit", {}, batch="b")
    profile = queue.enqueue("visit", {}, profile_id="p1")
    failed = queue.enqueue("visit", {}, priority=-5)
    queue.fail(claim_as(), {"reason": "no"})

    assert listed(Wanted(site="www.e.org"), order=order) == [site]
    assert listed(Wanted(task="price"), order=order) == [task]
    assert listed(Wanted(queue="slow"), order=order) == [other]
    assert listed(Wanted(batch="b"), order=order) == [batch]
    assert listed(Wanted(profile="p1"), order=order) == [profile]
    assert listed(Wanted(("error",)), order=order) == [failed]
    assert listed(Wanted(("error", "in_progress"), task="price"), order=order) == []
    assert len(listed(Wanted(("pending", "error")), order=order)) == 6


def test_a_filter_that_finds_little_reads_on(queue, listed, monkeypatch):
    monkeypatch.setattr(listing, "WINDOW", 3)
    first = queue.enqueue("price", {})
    queue.enqueue_many("visit", [{}] * 10)
    last = queue.enqueue("price", {})

    assert listed(Wanted(task="price")) == [last, first]
    assert listed(Wanted(task="price"), order=OLDEST) == [first, last]


def test_jobs_are_listed_by_when_they_were_added(database, queue, listed):
    old, new = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    database.run_statement(
        f"UPDATE work_queue SET created_at = created_at - INTERVAL 1 DAY WHERE id = {old}"
    )
    since = archive.now(database) - timedelta(hours=1)

    assert listed(Wanted(since=since)) == [new]
    assert listed(Wanted(until=since)) == [old]
