"""What the report advises for a group of failures."""

from __future__ import annotations

import pytest

from worker.reporting.night.failures import _command

GROUP = "b81e07d400000000"


@pytest.mark.parametrize(
    ("half_done", "is_mended", "command"),
    [
        (0, False, f"launcher.py retry --group {GROUP} --limit 10"),
        (0, True, f"launcher.py retry --group {GROUP}"),
        # Never a line that repeats every order when it is pasted.
        (1, False, f"launcher.py errors {GROUP}"),
        (30, True, f"launcher.py errors {GROUP}"),
    ],
)
def test_a_group_with_half_done_jobs_is_looked_at_first(half_done, is_mended, command):
    row = {"fingerprint": GROUP, "sample_job": 7, "half_done": half_done}

    assert _command(row, is_mended) == command
