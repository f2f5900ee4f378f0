"""Who is at work: one row per run and one per incarnation of a worker."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Sequence
from typing import Any

from worker.database.client import Database, Row
from worker.errors import DuplicateKey
from worker.settings import RunSettings
from worker.system.identity import boot_id, machine_id, pid_namespace, start_ticks, this_host


def start_run(
    db: Database, settings: RunSettings, launcher_pid: int, tasks: Sequence[str] | None = None
) -> int:
    """Record a launcher and the tasks it has loaded (None: any); return the run's id."""
    takes_any = tasks is None or settings.unknown_tasks == "fail"
    return db.insert(
        "start_run",
        host=this_host().name,
        machine_id=machine_id(),
        boot_id=boot_id(),
        pid_namespace=pid_namespace(),
        pid=launcher_pid,
        pid_started=start_ticks(launcher_pid),
        first_slot=settings.offset,
        workers=settings.workers,
        total=settings.total,
        queues=",".join(settings.queues),
        tasks=None if takes_any else json.dumps(sorted(tasks or ())),
    )


def beat(db: Database, run_id: int, pulse: str | None = None) -> None:
    """Record that the launcher lives, and as JSON how its queue and its workers stand."""
    db.execute("beat_run", run_id=run_id, pulse=pulse)


def end_run(db: Database, run_id: int, summary: dict[str, Any]) -> None:
    """Record how the run ended."""
    db.execute("end_run", run_id=run_id, summary=json.dumps(summary))


def latest(db: Database) -> Row | None:
    """Read the run that was started last, if there ever was one."""
    return db.fetch_one("latest_run")


def start_worker(db: Database, run_id: int, slot: int) -> int:
    """Record this process as a new incarnation of the slot and return its number.

    The number is never given again, also not by a database that was restored from a backup: an
    old worker's claim must not look like a new one's.
    """
    pid = os.getpid()
    while True:
        incarnation = (time.time_ns() // 1_000_000 << 12) + secrets.randbits(12)
        try:
            db.execute(
                "start_worker",
                id=incarnation,
                run_id=run_id,
                slot=slot,
                pid=pid,
                pid_started=start_ticks(pid),
            )
        except DuplicateKey:
            continue
        return incarnation


def end_worker(db: Database, incarnation: int, ending: str) -> None:
    """Record how an incarnation ended; only the first word on it counts."""
    db.execute("end_worker", incarnation=incarnation, ending=ending[:255])
