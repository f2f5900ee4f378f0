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

# In a run's pulse: the tasks it has loaded that need no browser.
WITHOUT_BROWSER = "without_browser"


def start_run(
    db: Database,
    settings: RunSettings,
    launcher_pid: int,
    tasks: Sequence[str] | None = None,
    without_browser: Sequence[str] = (),
) -> int:
    """Record a launcher and the tasks it has loaded (None: any); return the run's id.

    `without_browser` are those of its tasks that need no browser.
    """
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
        workers=int(settings.workers),
        total=int(settings.total or settings.workers),
        slots="" if settings.shares_slots or settings.finds_number else None,
        queues=",".join(settings.queues),
        tasks=None if takes_any else json.dumps(sorted(tasks or ())),
        pulse=json.dumps({WITHOUT_BROWSER: sorted(without_browser)}) if without_browser else None,
    )


def beat(db: Database, run_id: int, pulse: str | None = None) -> None:
    """Record that the launcher lives, and as JSON how its queue and its workers stand."""
    db.execute("beat_run", run_id=run_id, pulse=pulse)


def without_browser(db: Database, run_id: int) -> list[str]:
    """Name the tasks of a run that need no browser."""
    row = db.fetch_one("pulse_of_run", run_id=run_id)
    pulse = json.loads(row["pulse"]) if row and row["pulse"] else {}
    return [str(name) for name in pulse.get(WITHOUT_BROWSER, ())]


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
