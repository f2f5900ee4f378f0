"""How the benches compare: ratios of neighbours, targets on the right side."""

from __future__ import annotations

import pytest

from bench import harness
from bench.elsewhere import back_after
from bench.harness import Found, at_least, at_most, below
from bench.makespan import perfect
from bench.memory import at_work, median_around


def test_the_median_of_the_rounds_ratios_counts():
    row = harness.compared(
        "claims", "the limit", [10.0, 30.0, 90.0], [10.0, 60.0, 100.0], at_least(0.7), unit="/s"
    )

    # 1.0, 0.5 and 0.9: not the ratio of the medians, which is 0.5.
    assert (row.value, row.least, row.most, row.rounds) == (0.9, 0.5, 1.0, 3)
    assert row.met is True


@pytest.mark.parametrize(
    ("wanted", "good", "bad", "text"),
    [
        (at_least(0.7), 0.7, 0.69, "≥ 0.7"),
        (at_most(1.1), 1.1, 1.11, "≤ 1.1"),
        (below(1.5, "s"), 1.49, 1.5, "< 1.5 s"),
    ],
)
def test_a_target_is_met_on_its_good_side_only(wanted, good, bad, text):
    assert wanted.is_met(good)
    assert not wanted.is_met(bad)
    assert str(wanted) == text


def test_what_could_not_be_measured_is_not_met_and_says_why():
    found = Found([harness.missing("no-op jobs", "RQ", None, "there is no Redis")])

    assert not found.is_met
    assert "MISSED" in harness.table(found.rows)
    assert not found.is_measured
    assert found.rows[0].note == "there is no Redis"


def test_a_row_of_which_nothing_is_wanted_fails_nothing():
    row = harness.alone("CPU of a page", [100.0], None, unit="ms")

    assert row.met is None
    assert Found([row]).is_met
    assert Found([row]).is_measured
    assert not Found().is_measured


def test_what_was_found_comes_back_from_json_as_it_was():
    row = harness.alone("latency", [1.0, 2.0, 3.0], below(5, "ms"), unit="ms", note="one")
    plot = harness.Plot("Latency", "jobs", "ms", {"p50": [[1.0, 2.0]]})
    found = Found([row], {"latency": plot}, {"server": "11.8"})

    assert harness.from_json(harness.as_json(found)) == found


def test_work_that_is_shared_perfectly_is_done_by_whoever_is_there():
    assert perfect(60.0, [(0.0, 1.0)] * 6) == pytest.approx(10.0)
    # The second host comes when the first has done 10 of 30; both together do the rest in 10.
    assert perfect(30.0, [(0.0, 1.0), (10.0, 1.0)]) == pytest.approx(20.0)
    # Who comes after the end has no part in it.
    assert perfect(5.0, [(0.0, 1.0), (10.0, 1.0)]) == pytest.approx(5.0)
    assert perfect(51.0, [(0.0, 1.0)] * 5 + [(0.0, 0.1)]) == pytest.approx(10.0)


def test_memory_is_the_median_of_the_samples_around_a_count():
    samples = [(10, 1.0), (198, 50.0), (200, 90.0), (202, 60.0), (400, 2.0)]

    assert median_around(samples, 200, 5) == 60.0
    assert median_around(samples, 300, 5) in (60.0, 2.0)


def test_memory_of_a_run_that_has_ended_does_not_count():
    samples = [(0, 5.0), (20, 400.0), (99, 410.0), (100, 40.0)]

    assert at_work(samples, 100) == [(20, 400.0), (99, 410.0)]
    with pytest.raises(RuntimeError, match="over before"):
        at_work([(0, 5.0), (100, 40.0)], 100)


def test_throughput_is_back_where_a_window_has_nearly_all_pages_it_had_before():
    # Two of four workers go on at once; the others are back after 2 s.
    slow = [number / 3 for number in range(30)]
    fast = slow + [2 + number / 3 for number in range(24)]

    assert 1.5 <= back_after(fast, rate=6.0, last=10.0) <= 2.0
    assert back_after(slow, rate=6.0, last=10.0) is None
    assert back_after([number / 6 for number in range(60)], rate=6.0, last=10.0) == 0.0
