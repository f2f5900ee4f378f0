"""Batches are counted a little with every pass, and what is told is whole or said not to be."""

from __future__ import annotations

import pytest

from worker.dashboard import batch_counts
from worker.dashboard.batch_counts import BatchCount, BatchCounts

WINDOW = 10


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


class Jobs:
    """Batches as the database would tell of them; each look takes a second."""

    def __init__(self, clock, **batches):
        self.clock, self.batches = clock, batches

    def fetch_all(self, name, *, name_=None, after, limit, **params):
        self.clock.now += 1
        jobs = self.batches[params.get("name", name_)]
        first = max(after, 0)
        seen = jobs[first : first + WINDOW]
        row = {"seen": len(seen), "last": first + len(seen), "first_unfinished": None}
        row |= {name: seen.count(name) for name in ("unfinished", "done", "failed")}
        return [row]


class Database(Jobs):
    def fetch_all(self, query, **params):
        assert query == "window_of_batch"
        return super().fetch_all(query, name_=params.pop("name"), **params)


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(batch_counts, "time", found)
    return found


def jobs(done, failed, unfinished):
    return ["done"] * done + ["failed"] * failed + ["unfinished"] * unfinished


def test_a_small_batch_is_counted_at_once(clock):
    found = BatchCounts().look(Database(clock, monday=jobs(3, 1, 2)), ["monday"], 5)

    assert found == {"monday": BatchCount(2, 3, 1, is_whole=True)}
    assert found["monday"].jobs == 6


def test_a_large_batch_takes_several_passes_and_says_so_until_it_is_whole(clock):
    db, counts = Database(clock, monday=jobs(25, 5, 10)), BatchCounts()

    first = counts.look(db, ["monday"], 2)["monday"]
    assert (first.done, first.is_whole) == (20, False)
    second = counts.look(db, ["monday"], 2)["monday"]
    assert (second.done, second.is_whole) == (25, False)

    # While the next count goes on, the last whole one is told.
    for _ in range(4):
        told = counts.look(db, ["monday"], 2)["monday"]
        assert told == BatchCount(10, 25, 5, is_whole=True)


def test_no_batch_waits_for_ever_behind_a_large_one(clock):
    db, counts = Database(clock, large=jobs(25, 0, 0), small=jobs(1, 0, 0)), BatchCounts()

    for _ in range(4):
        found = counts.look(db, ["large", "small"], 2)

    assert found["small"] == BatchCount(0, 1, 0, is_whole=True)


def test_a_batch_that_is_finished_is_forgotten(clock):
    counts = BatchCounts()
    counts.look(Database(clock, monday=jobs(1, 0, 0)), ["monday"], 5)

    assert counts.look(Database(clock), [], 5) == {}
