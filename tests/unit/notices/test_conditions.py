"""What is told, and when: once, and again only after it was over."""

from __future__ import annotations

from worker.notices.conditions import Change, Condition, Stillness

BEGAN, ENDED = Change.BEGAN, Change.ENDED


def test_a_condition_is_told_when_it_begins_and_not_while_it_goes_on():
    condition = Condition()

    assert [condition.look(holds, 0) for holds in (False, True, True, True)] == [
        *(None, BEGAN, None, None)
    ]


def test_it_is_told_again_only_after_it_was_over_for_long_enough():
    condition = Condition(rest_seconds=10)
    seen = [(True, 0), (False, 1), (True, 5), (False, 6), (False, 15), (False, 16), (True, 17)]

    changes = [condition.look(holds, now) for holds, now in seen]
    assert changes == [BEGAN, None, None, None, None, ENDED, BEGAN]


def test_what_cannot_be_told_changes_nothing():
    condition = Condition()

    assert condition.look(None, 0) is None
    condition.look(True, 1)
    assert condition.look(None, 2) is None
    assert condition.is_told


def test_nothing_is_still_while_jobs_finish_or_there_is_no_work():
    still = Stillness(since=100)

    assert still.look(None, True, 110) == 10, "no job has ever finished"
    assert still.look(3, True, 120) == 3
    assert still.look(63, True, 180) == 63
    assert still.look(123, False, 240) == 0, "there was nothing to do"
    assert still.look(183, True, 300) == 60, "only since there is work again"


def test_a_database_that_is_away_makes_nothing_finish():
    still = Stillness(since=0)
    still.look(1, True, 10)

    assert still.look(None, True, 1000) == 991
