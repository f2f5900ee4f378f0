"""Huey on Redis, as it comes, with results. A job at work is nowhere but in its worker."""

from __future__ import annotations

import os

from huey import RedisHuey

huey = RedisHuey("bench", url=f"unix://{os.environ['BENCH_REDIS']}")


@huey.task()
def noop(url: str) -> dict[str, bool]:
    """Do nothing, successfully."""
    return {"ok": True}


def fill(jobs: int) -> None:
    """Put so many jobs in."""
    for number in range(jobs):
        noop(f"https://example.com/{number}")


def left() -> int:
    """Count the jobs that wait."""
    return int(huey.storage.queue_size())
