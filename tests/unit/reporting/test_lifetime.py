"""However many tasks there are, some have names of their own, and the others never count less."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from worker.reporting import lifetime

DAY_ONE = datetime.fromisoformat("2026-11-01")


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 3)), max_size=400))
def test_a_task_that_is_one_of_the_others_stays_one(seen):
    first_day = {}
    others = set()
    day = DAY_ONE
    for number, later in seen:
        day += timedelta(days=later)
        first_day.setdefault(f"task {number}", day)

        named = lifetime._named(first_day)

        assert len(named) <= lifetime.MAX_TASKS
        assert not others & named
        others |= first_day.keys() - named
