"""A job remembers the steps its task names, with their times, up to a bound."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from worker.tasks.job import MAX_STEPS, Job, steps_of


def test_the_latest_steps_are_kept_with_their_times():
    shown: list[str] = []
    job = Job(1, 1, 4, "visit", time.monotonic() + 60, Path("/nowhere"), _on_step=shown.append)
    for number in range(MAX_STEPS + 5):
        job.step(f"step {number}")

    assert job.last_step == shown[-1] == "step 54"
    assert [step["text"] for step in steps_of(job)] == [f"step {number}" for number in range(5, 55)]
    times = [datetime.fromisoformat(step["at"]) for step in steps_of(job)]
    assert times == sorted(times)
    assert 0 <= (datetime.now(UTC) - times[0]).total_seconds() < 60
