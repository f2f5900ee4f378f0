"""How long to wait: longer each time, never the same for all, never beyond the cap."""

from __future__ import annotations

from worker.backoff import MAX_DELAY_SECONDS, backoff_seconds


def test_the_wait_doubles_with_every_try_give_or_take_a_quarter():
    for tries in range(1, 8):
        middle = 30 * 2 ** (tries - 1)
        waits = [backoff_seconds(tries, 30) for _ in range(200)]
        assert 0.75 * middle <= min(waits) <= max(waits) <= 1.25 * middle


def test_jobs_that_failed_together_do_not_come_back_together():
    assert len({backoff_seconds(1, 30) for _ in range(100)}) > 90


def test_the_wait_is_capped_however_many_tries_there_were():
    for tries in (20, 1000, 10**9):
        assert 0.75 * MAX_DELAY_SECONDS <= backoff_seconds(tries, 30) <= 1.25 * MAX_DELAY_SECONDS
    assert backoff_seconds(50, 30, cap=8) <= 10


def test_no_try_counts_as_the_first_and_no_base_means_no_wait():
    assert 22.5 <= backoff_seconds(0, 30) <= 37.5
    assert backoff_seconds(5, 0) == 0
