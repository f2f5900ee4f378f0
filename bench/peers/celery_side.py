"""Celery on Redis, as its manual has it for jobs that must not be lost: late acknowledgement."""

from __future__ import annotations

import os

import redis
from celery import Celery

SOCKET = os.environ["BENCH_REDIS"]

app = Celery("bench", broker=f"redis+socket://{SOCKET}", backend=f"redis+socket://{SOCKET}")
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    broker_connection_retry_on_startup=True,
)


@app.task(name="noop")
def noop(url: str) -> dict[str, bool]:
    """Do nothing, successfully."""
    return {"ok": True}


def fill(jobs: int) -> None:
    """Put so many jobs in."""
    with app.producer_or_acquire() as producer:
        for number in range(jobs):
            noop.apply_async((f"https://example.com/{number}",), producer=producer)


def left() -> int:
    """Count the jobs that are not done."""
    client = redis.Redis(unix_socket_path=SOCKET)
    return client.llen("celery") + client.hlen("unacked")
