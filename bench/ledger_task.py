"""A no-op task that keeps a ledger: a line when it starts and one when it ends, outside the queue.

Each line is one append of a few bytes, so that lines of several processes never mix.
"""

from __future__ import annotations

import os
from typing import Any

from worker import Job, task

LEDGER_VARIABLE = "BENCH_LEDGER"

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT


@task("ledgered", browser=False)
def ledgered(page: Any, payload: dict[str, Any], job: Job) -> None:
    """Write down that the job ran, and that it ran to its end."""
    ledger = os.open(os.environ[LEDGER_VARIABLE], _FLAGS, 0o600)
    try:
        os.write(ledger, f"start {job.id} {job.attempt}\n".encode())
        os.write(ledger, f"end {job.id} {job.attempt}\n".encode())
    finally:
        os.close(ledger)
