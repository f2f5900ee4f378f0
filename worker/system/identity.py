"""Who a process is, for good: its machine's boot, its pid namespace, its pid and its start.

A reused pid is never taken for the process that had it before.
"""

from __future__ import annotations

import time
from pathlib import Path

from worker.system.process_tree import identify


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
