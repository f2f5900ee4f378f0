"""Who a process is, for good, and whether a recorded one is gone.

A process is named by its machine's boot id, its pid namespace, its pid and the tick it was started
at, so that a reused pid is never taken for it. "Gone" is only said where it is certain.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from worker.system.process_tree import ProcessId, identify, is_alive, read_stat

# A launcher beats every ten seconds at least: three beats are missing.
MIN_SILENT_SECONDS = 30.0


def owner_is_gone(row: Mapping[str, Any]) -> bool:
    """Tell whether a recorded worker and its launcher are both gone.

    While its launcher lives, that one sees a worker's death and knows the cause.
    """
    launcher = {**row, "pid": row["launcher_pid"], "pid_started": row["launcher_started"]}
    return is_gone(launcher) and is_gone(row)


def is_gone(process: Mapping[str, Any]) -> bool:
    """Tell whether a recorded process is certainly gone; False when that cannot be known.

    `silent_seconds` is the time since its run's last heartbeat, by the database's clock.
    """
    if process["boot_id"] != boot_id():
        return _ended_with_another_boot(process)
    if process["pid_namespace"] != pid_namespace():
        return False
    if read_stat(process["pid"]) is None:
        return not _is_hidden(process["pid"])
    return not is_alive(ProcessId(process["pid"], process["pid_started"]))


def machine_id() -> str:
    """Name this machine over reboots; empty when it has no name. Cloned machines share theirs."""
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


def uptime_seconds() -> float:
    """Tell how long ago this machine was booted."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _ended_with_another_boot(process: Mapping[str, Any]) -> bool:
    # A run that has beaten since this machine was booted lives on another machine, whatever the
    # machine ids say: cloned disks and baked images carry the id of their original.
    is_named = bool(machine_id()) and process["machine_id"] == machine_id()
    silent = float(process["silent_seconds"])
    return is_named and silent > max(uptime_seconds(), MIN_SILENT_SECONDS)


def _is_hidden(pid: int) -> bool:
    """Whether a process lives that /proc does not show us: mounted with hidepid, it may not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # It was started between the two looks.
    return read_stat(pid) is None
