"""Many failures: by share, against what is usual, and of the last hour by itself."""

from __future__ import annotations

import pytest

from worker.reporting.night.failing import Ended, warning

NONE = Ended()


@pytest.mark.parametrize(
    ("night", "lately", "usual", "said"),
    [
        (Ended(410, 590), NONE, NONE, "590 (59 %) of the 1,000 jobs that ended have failed"),
        (Ended(0, 1), NONE, NONE, "the one job that ended has failed"),
        (Ended(960, 40), NONE, NONE, ""),
        (NONE, NONE, NONE, ""),
        # A share that is usual wakes nobody.
        (Ended(900, 100), NONE, Ended(900, 95), ""),
        (Ended(410, 590), NONE, Ended(900, 95), "590 (59 %) of the 1,000 jobs that ended"),
        # Nor does a bad night where nights are never good; one that is far worse does.
        (Ended(41, 59), NONE, Ended(60, 40), ""),
        (Ended(20, 80), NONE, Ended(60, 40), "80 (80 %) of the 100 jobs that ended have failed"),
        (Ended(410, 590), NONE, Ended(75, 25), "590 (59 %) of the 1,000 jobs that ended"),
        (Ended(0, 100), NONE, Ended(60, 40), "100 (100 %) of the 100 jobs that ended"),
        (Ended(0, 100), NONE, Ended(0, 40), ""),
        (Ended(40_000, 62), Ended(10, 52), NONE, "that ended in the last hour have failed"),
        (Ended(40_000, 1), Ended(8, 1), NONE, ""),
    ],
)
def test_it_says_which_share_fails_if_that_is_much(night, lately, usual, said):
    found = warning(night, lately, usual)

    assert said in found
    assert bool(found) == bool(said)
