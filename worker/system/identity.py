"""Who a process is, for good: its machine's boot, its pid namespace, its pid and its start.

A reused pid is never taken for the process that had it before. Also which host this is.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from worker.errors import SettingsError
from worker.system.process_tree import identify

# A host that is named by hand is known by that name alone, as a container that comes and goes.
HOST_VARIABLE = "NIGHTSHIFT_HOST"
# Kubernetes sets it in the pods of an Indexed Job; a StatefulSet's pods have it in their names.
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"


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


def is_this_host(name: str | None) -> bool:
    """Whether something that was noted with a host's name, or with none, is on this machine."""
    return not name or name in (this_host().name, socket.gethostname())


def host_index(environ: Mapping[str, str]) -> int:
    """Tell which of many equal hosts this is, from 0: of an Indexed Job, or of a StatefulSet.

    Raises SettingsError when nothing says so.
    """
    told = environ.get(INDEX_VARIABLE) or re.sub(r"^.*-", "", this_host().name)
    if not re.fullmatch(r"\d{1,6}", told):
        raise SettingsError(
            f"--slots indexed finds no number of this host: {INDEX_VARIABLE} is not set, and its "
            f"name {this_host().name!r} does not end with one, as in nightshift-3; "
            f"give --offset, or use --slots auto"
        )
    return int(told)


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
