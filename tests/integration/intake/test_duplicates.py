"""Duplicates are found as the server would find them, without writing anything."""

from __future__ import annotations

import pytest

from worker.intake import duplicates
from worker.intake.bulk import open_bulk


@pytest.fixture
def taken(database):
    def taken(keys, task="visit", *, across_tasks=False):
        rows = [("{}", key) for key in keys]
        found = duplicates.watch(database, task, rows, across_tasks=across_tasks)
        return [is_taken for _, is_taken in found]

    return taken


def test_keys_of_the_queue_and_of_rows_before_are_taken(queue, taken):
    queue.enqueue("visit", {}, dedupe_key="a")

    assert taken(["a", "b", "b", None, None, "A", "a "]) == [
        *(True, False, True, False, False, False, True)
    ]
    assert queue.counts()["pending"] == 1


def test_keys_count_for_a_task_or_across_all(queue, taken):
    queue.enqueue("price", {}, dedupe_key="a")
    queue.enqueue("price", {}, dedupe_key="b", dedupe_across_tasks=True)

    assert taken(["a", "b"]) == [False, False]
    assert taken(["a", "b"], "price") == [True, False]
    assert taken(["a", "b"], across_tasks=True) == [False, True]


def test_what_is_said_beforehand_is_what_happens(queue, database, taken, monkeypatch):
    monkeypatch.setattr(duplicates, "AT_ONCE", 7)
    queue.enqueue("visit", {}, dedupe_key="k3 ")
    keys = [f"k{n % 40}" for n in range(100)]
    expected = taken(keys).count(False)

    with open_bulk(database, "visit") as bulk:
        for _ in bulk.run([("{}", key) for key in keys]):
            pass

    assert bulk.inserted == expected == 39
