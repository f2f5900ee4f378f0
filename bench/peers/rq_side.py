"""RQ, as it comes: a process is forked for each job."""

from __future__ import annotations

import os

import redis
from rq import Queue
from rq.registry import StartedJobRegistry

client = redis.Redis(unix_socket_path=os.environ["BENCH_REDIS"])
queue = Queue("bench", connection=client)


def noop(url: str) -> dict[str, bool]:
    """Do nothing, successfully."""
    return {"ok": True}


def fill(jobs: int) -> None:
    """Put so many jobs in."""
    for number in range(jobs):
        queue.enqueue("rq_side.noop", f"https://example.com/{number}")


def left() -> int:
    """Count the jobs that are not done."""
    return len(queue) + StartedJobRegistry(queue=queue).get_job_count(cleanup=False)
