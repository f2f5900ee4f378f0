"""Any time is told by pieces that cover each of its minutes once, by the widest spans there are."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from worker.reporting.figures import State, pieces
from worker.reporting.spans import DAY, EARLIEST, HOUR, MINUTE

NOW = datetime.fromisoformat("2026-11-18T05:42:17")
MINUTES_A_WEEK = 7 * 24 * 60


def state(late_minutes=2):
    counted = MINUTE.floor(NOW) - timedelta(minutes=late_minutes)
    settled = counted - timedelta(minutes=1)
    return State(NOW, "run 1", counted, HOUR.floor(settled), DAY.floor(settled))


@given(
    st.integers(0, MINUTES_A_WEEK),
    st.integers(1, MINUTES_A_WEEK),
    st.integers(0, 200),
    st.sampled_from([MINUTE, HOUR, DAY]),
)
def test_every_minute_with_a_rollup_is_told_once(ago, length, late, widest):
    since = MINUTE.floor(NOW) - timedelta(minutes=ago)
    until = since + timedelta(minutes=length)
    known = state(late)

    told = [
        start + number * MINUTE.length
        for _, start, end in pieces(known, since, until, widest)
        for number in range((end - start) // MINUTE.length)
    ]

    end = min(until, known.counted_until)
    wanted = [since + n * MINUTE.length for n in range(max(0, (end - since) // MINUTE.length))]
    assert sorted(told) == wanted


def test_a_week_is_told_by_days_and_its_edges_by_hours_and_minutes():
    since = NOW - timedelta(days=6, hours=2, minutes=3)

    spans = [span.name for span, _, _ in pieces(state(), since, NOW, DAY)]

    assert spans == ["minute", "hour", "day", "hour", "minute"]


def test_minutes_that_were_thinned_out_are_told_by_whole_hours():
    since = NOW - timedelta(days=30)

    told = pieces(state(), since, since + timedelta(hours=5), HOUR)

    assert told == [(HOUR, HOUR.floor(since), HOUR.ceil(since + timedelta(hours=5)))]


def test_all_there_ever_was_begins_with_the_first_day():
    first, *_ = pieces(state(), EARLIEST, NOW, DAY)

    assert first[:2] == (DAY, EARLIEST)
