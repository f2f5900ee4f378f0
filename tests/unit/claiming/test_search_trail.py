"""What a worker remembers of its looks."""

from __future__ import annotations

from worker.claiming.search_trail import Trail


def test_a_first_walk_counts_as_a_look_at_what_lies_behind():
    trail = Trail()
    trail.note_first_walk(began=10.0, now=10.5)

    assert (trail.looked_back_at, trail.took_seconds) == (10.5, 0.5)


def test_later_walks_do_not_put_the_next_look_back_off():
    trail = Trail(looked_back_at=5.0, took_seconds=0.1)
    trail.note_first_walk(began=10.0, now=10.5)

    assert (trail.looked_back_at, trail.took_seconds) == (5.0, 0.1)
