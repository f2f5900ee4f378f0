"""How many candidates a worker reads at a time."""

from __future__ import annotations

from worker.claiming.batch_size import MAX_ROWS, MIN_ROWS, BatchSize


def test_a_batch_that_is_used_up_in_time_is_followed_by_a_larger_one_up_to_a_bound():
    batch = BatchSize()
    sizes = [batch.rows]
    for _ in range(8):
        batch.learn(was_used_up=True)
        sizes.append(batch.rows)
    assert sizes[:3] == [MIN_ROWS, MIN_ROWS * 2, MIN_ROWS * 4]
    assert sizes[-1] == MAX_ROWS


def test_a_batch_that_went_stale_is_followed_by_a_smaller_one_down_to_a_bound():
    batch = BatchSize()
    batch.learn(was_used_up=True)
    for _ in range(3):
        batch.learn(was_used_up=False)
    assert batch.rows == MIN_ROWS
