"""Recovery is what the jobs felt: the pool goes on, and what was broken off is made good."""

from __future__ import annotations

import random

import pytest

from tests.unit.drill.strikes import strike
from worker.drill.faults import FAULTS, deck
from worker.drill.ledger import Execution
from worker.drill.recovery import longest_standstill, recovery_seconds, summarise

ONE, TWO = (101, 5), (102, 6)


def run(job_id: int, begin: float, end: float | None, process=TWO) -> Execution:
    return Execution(job_id, process, begin, begin, end, end, end is not None)


STEADY = [run(100 + n, n + 0.1, n + 0.6) for n in range(60)]


def test_a_pool_that_goes_on_has_recovered_at_the_tenth_job_after_the_fault():
    assert recovery_seconds(strike(5.0, 8.0, [999]), STEADY) == pytest.approx(9.6)


def test_a_job_that_was_broken_off_must_have_been_made_good():
    broken = [run(7, 4.9, None, ONE), run(7, 30.0, 31.0, TWO)]

    assert recovery_seconds(strike(5.0, 5.0, [101]), STEADY + broken) == pytest.approx(26.0)


def test_a_job_of_a_process_that_was_not_hit_does_not_count():
    other = [run(7, 4.9, 50.0, ONE)]

    assert recovery_seconds(strike(5.0, 5.0, [999]), STEADY + other) < 15


def test_a_fault_after_which_too_few_jobs_were_left_has_no_figure():
    assert recovery_seconds(strike(55.0, 55.0, [999]), STEADY) is None


def test_faults_are_summed_up_by_kind():
    strikes = [
        strike(5.0, 5.0, [999], "small"),
        strike(20.0, 24.0, [999], "small"),
        strike(55.0, 55.0, [999], "late"),
    ]

    small, late = summarise(strikes, STEADY)

    assert (small.kind, small.count, small.measured) == ("small", 2, 2)
    assert small.max_seconds >= small.median_seconds > 0
    assert (late.count, late.measured, late.median_seconds, late.max_seconds) == (1, 0, None, None)


def test_a_fault_into_which_another_struck_is_counted_but_not_measured():
    strikes = [strike(5.0, 5.0, [999], "first"), strike(8.0, 8.0, [999], "second")]

    found = {each.kind: (each.count, each.measured) for each in summarise(strikes, STEADY)}

    assert found == {"first": (1, 0), "second": (1, 1)}


def test_a_standstill_is_the_longest_time_without_an_end():
    assert longest_standstill(STEADY) == pytest.approx(1.0)
    assert longest_standstill([run(1, 0, 2.0), run(2, 0, 9.0), run(3, 0, None)]) == 7.0
    assert longest_standstill([]) == 0.0


def test_the_same_seed_deals_the_same_faults_and_all_kinds_of_them():
    dealt = deck(200, random.Random(3))

    assert dealt == deck(200, random.Random(3))
    assert dealt != deck(200, random.Random(4))
    assert {fault.kind for fault in dealt} == {
        fault.kind for fault in FAULTS if fault.is_possible()
    }
