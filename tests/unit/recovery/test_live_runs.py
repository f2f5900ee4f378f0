"""How a run ended, in a few words, from what it recorded."""

from __future__ import annotations

import pytest

from worker.recovery.live_runs import ending_of


@pytest.mark.parametrize(
    ("summary", "ending"),
    [
        ({}, "drained"),
        ({"stopped_by": "SIGTERM", "held_back": [{"jobs": 3}]}, "stopped (SIGTERM)"),
        ({"held_back": [{"jobs": 1200}, {"jobs": 3}]}, "ended with 1,203 held back"),
        ({"workers": [{"given_up": "no browser"}, {"given_up": "no browser"}]}, "gave up"),
        ({"workers": [{"given_up": "no browser"}, {"given_up": None}]}, "drained"),
    ],
)
def test_the_ending_of_a_run_is_told_in_a_few_words(summary, ending):
    assert ending_of(summary) == ending
