"""Dramatiq on Redis, as it comes, with results."""

from __future__ import annotations

import os

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend

URL = f"unix://{os.environ['BENCH_REDIS']}"

broker = RedisBroker(url=URL)
broker.add_middleware(Results(backend=RedisBackend(url=URL)))
dramatiq.set_broker(broker)


@dramatiq.actor(store_results=True)
def noop(url: str) -> dict[str, bool]:
    """Do nothing, successfully."""
    return {"ok": True}


def fill(jobs: int) -> None:
    """Put so many jobs in."""
    for number in range(jobs):
        noop.send(f"https://example.com/{number}")


def left() -> int:
    """Count the jobs that are not done: a message is kept until it is acknowledged."""
    return int(redis.Redis.from_url(URL).hlen("dramatiq:default.msgs"))
