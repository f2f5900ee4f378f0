"""A task that proves its hold on a profile outside the queue: by a lock of the kernel's.

While it works it holds one of as many locks as the profile allows holders, and it writes one line
when it has the lock and one before it lets go. A lock that is not free is a clash. What it does at
an irreversible step is one line too.
"""

from __future__ import annotations

import fcntl
import os
import random
import time
from pathlib import Path
from typing import Any

from worker import Job, task

FOLDER_VARIABLE = "BENCH_STORM_FOLDER"
LEDGER, LOCKS = "ledger", "locks"
# What is done at an irreversible step, as the ledger calls it.
ORDER = "order"

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT


@task("stormy", browser=False)
def stormy(page: Any, payload: dict[str, Any], job: Job) -> None:
    """Hold the profile's lock for a few milliseconds, and say so."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    ledger = os.open(folder / LEDGER, _FLAGS, 0o600)
    held = _lock(folder / LOCKS, str(job.profile_id), holders_of(str(job.profile_id)))
    try:
        _write(ledger, "clash" if held is None else "start", job)
        if payload["step"]:
            is_order = bool(payload.get("irreversible"))
            job.step(payload["step"], irreversible=is_order)
            if is_order:
                _write(ledger, ORDER, job)
        time.sleep(random.uniform(0.0, payload["max_seconds"]))
        _write(ledger, "end", job)
    finally:
        if held is not None:
            os.close(held)
        os.close(ledger)


def holders_of(profile: str) -> int:
    """Say how many may hold a profile at once: two, for those whose number ends in 9."""
    return 2 if profile.endswith("9") else 1


def _lock(folder: Path, profile: str, holders: int) -> int | None:
    for number in range(holders):
        lock = os.open(folder / f"{profile}.{number}", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            return lock
    return None


def _write(ledger: int, what: str, job: Job) -> None:
    line = f"{what} {job.profile_id} {job.lease_fence} {job.id} {job.attempt} {os.getpid()}\n"
    os.write(ledger, line.encode())
