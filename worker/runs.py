"""Who is at work: one row per run and one per incarnation of a worker.

A process is named for good by the host's boot id, its pid and the tick it was started at, so that
a reused pid or slot is never taken for it.
"""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

from worker.database import Database
from worker.settings import RunSettings


def start_run(db: Database, settings: RunSettings, launcher_pid: int) -> int:
    """Record a launcher and return the run's id."""
    return db.insert(
        "start_run",
        host=socket.gethostname(),
        boot_id=boot_id(),
        pid=launcher_pid,
        pid_started=start_ticks(launcher_pid),
        first_slot=settings.offset,
        workers=settings.workers,
        total=settings.total,
    )


def beat(db: Database, run_id: int) -> None:
    """Record that the launcher lives."""
    db.execute("beat_run", run_id=run_id)


def end_run(db: Database, run_id: int, summary: dict[str, Any]) -> None:
    """Record how the run ended."""
    db.execute("end_run", run_id=run_id, summary=json.dumps(summary))


def start_worker(db: Database, run_id: int, slot: int) -> int:
    """Record this process as a new incarnation of the slot and return its number."""
    pid = os.getpid()
    return db.insert(
        "start_worker", run_id=run_id, slot=slot, pid=pid, pid_started=start_ticks(pid)
    )


def end_worker(db: Database, incarnation: int, ending: str) -> None:
    """Record how an incarnation ended; only the first word on it counts."""
    db.execute("end_worker", incarnation=incarnation, ending=ending[:255])


def boot_id() -> str:
    """Name this boot of this host."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def start_ticks(pid: int) -> int:
    """Tell when a process was started, in clock ticks since boot; 0 when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    # The name in parentheses may itself hold spaces and parentheses.
    return int(stat.rpartition(")")[2].split()[19])
