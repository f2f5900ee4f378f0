"""How a run ended, in a few words, from what it recorded."""

from __future__ import annotations

import pytest

from worker.recovery.live_runs import ended_well, ending_of


@pytest.mark.parametrize(
    ("summary", "ending"),
    [
        ({}, "drained"),
        ({"stopped_by": "SIGTERM", "held_back": [{"jobs": 3}]}, "stopped (SIGTERM)"),
        ({"held_back": [{"jobs": 1200}, {"jobs": 3}]}, "ended with 1,203 held back"),
        ({"workers": [{"given_up": "no browser"}, {"given_up": "no browser"}]}, "gave up"),
        ({"workers": [{"given_up": "no browser"}, {"given_up": None}]}, "drained"),
        ({"exit_code": 10, "failed": 3}, "drained, with too many failures"),
        ({"exit_code": 11, "held_back": [{"jobs": 3}]}, "ended with 3 held back"),
    ],
)
def test_the_ending_of_a_run_is_told_in_a_few_words(summary, ending):
    assert ending_of(summary) == ending


@pytest.mark.parametrize(
    ("code", "is_well"), [(None, True), (0, True), (11, True), (10, False), (69, False)]
)
def test_a_run_with_too_many_failures_has_not_ended_well(code, is_well):
    assert ended_well({"exit_code": code}) is is_well
