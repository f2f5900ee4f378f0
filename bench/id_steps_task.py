"""A task that takes a while without using the machine: what remains is who gets which job."""

from __future__ import annotations

import time
from typing import Any

from worker import Job, task


@task("nap", browser=False)
def nap(page: Any, payload: dict[str, Any], job: Job) -> None:
    """Sleep as long as the job says."""
    time.sleep(payload["seconds"])
