"""A night over thousands of sites: what each of them costs the others is nothing."""

from __future__ import annotations

from tests.integration.gate_worker import fail
from worker.guards import breakers


def test_sites_that_failed_once_are_not_read_by_workers_and_are_forgotten(database, worker):
    for number in range(50):
        breakers.note_failure(database, f"site:shop{number}.example", "visit", "HTTP 500")
    assert len(breakers.all_breakers(database)) == 50
    breakers.open_by_hand(database, "site:held.example", None, "a sale", "me")
    breakers.close_by_hand(database, "site:kept.example", keep=True, by="me")

    worker.look_again()
    worker.closures.refresh()
    assert set(worker.closures.closed) == {"site:held.example"}
    assert worker.closures.watched == {"site:held.example"}

    breakers.forget_quiet(database)
    assert len(breakers.all_breakers(database)) == 52
    database.run_statement("UPDATE breakers SET window_start = window_start - INTERVAL 61 SECOND")
    breakers.forget_quiet(database)
    names = [row["name"] for row, _ in breakers.all_breakers(database)]
    assert names == ["site:held.example", "site:kept.example"]


def test_a_host_longer_than_any_can_be_has_a_breaker_like_others(database, queue, worker):
    queue.enqueue("visit", {"url": f"https://{'a' * 400}.example/"})

    fail(worker, worker.claim_now())

    (row, _) = breakers.all_breakers(database)[0]
    assert row["name"] == f"site:{'a' * 255}"
