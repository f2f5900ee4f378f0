"""Who a process is, for good: its machine's boot, its pid namespace, its pid and its start.

A reused pid is never taken for the process that had it before. Also which host this is.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from worker.system.process_tree import identify

# A host that is named by hand is known by that name alone, as a container that comes and goes.
HOST_VARIABLE = "NIGHTSHIFT_HOST"


@dataclass(frozen=True, slots=True)
class Host:
    """A host as others know it: by the name that is shown and an id that survives reboots.

    Cloned machines share their id, and unrelated ones may share a name: only both together count.
    """

    name: str
    id: str


def this_host() -> Host:
    """Say which host this process is on: by NIGHTSHIFT_HOST alone, or by name and machine id."""
    if named := os.environ.get(HOST_VARIABLE, "").strip():
        return Host(named[:255], "")
    return Host(socket.gethostname(), machine_id())


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
