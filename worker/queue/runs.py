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

from worker.database.client import Database, Row
from worker.settings import RunSettings
from worker.system.process_tree import ProcessId, identify, is_alive


def start_run(db: Database, settings: RunSettings, launcher_pid: int) -> int:
    """Record a launcher and return the run's id."""
    return db.insert(
        "start_run",
        host=socket.gethostname(),
        machine_id=machine_id(),
        boot_id=boot_id(),
        pid_namespace=pid_namespace(),
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


def latest(db: Database) -> Row | None:
    """Read the run that was started last, if there ever was one."""
    return db.fetch_one("latest_run")


def start_worker(db: Database, run_id: int, slot: int) -> int:
    """Record this process as a new incarnation of the slot and return its number."""
    pid = os.getpid()
    return db.insert(
        "start_worker", run_id=run_id, slot=slot, pid=pid, pid_started=start_ticks(pid)
    )


def end_worker(db: Database, incarnation: int, ending: str) -> None:
    """Record how an incarnation ended; only the first word on it counts."""
    db.execute("end_worker", incarnation=incarnation, ending=ending[:255])


def is_gone(process: Row) -> bool:
    """Tell whether a recorded process provably lives no more; False when that cannot be known."""
    if process["boot_id"] != boot_id():
        return bool(machine_id()) and process["machine_id"] == machine_id()
    if process["pid_namespace"] != pid_namespace():
        return False
    return not is_alive(ProcessId(process["pid"], process["pid_started"]))


def machine_id() -> str:
    """Name this machine over reboots; empty when it has no name."""
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def boot_id() -> str:
    """Name this boot of this machine, like no other boot of any machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def pid_namespace() -> int:
    """Name the set of pids this process lives in: a container has one of its own."""
    return Path("/proc/self/ns/pid").stat().st_ino


def start_ticks(pid: int) -> int:
    """Tell when a process was started, in clock ticks since boot; 0 when it is gone."""
    process = identify(pid)
    return process.start_time if process else 0
