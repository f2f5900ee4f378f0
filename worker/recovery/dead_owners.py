"""Whether the owner of a claim or a lease is dead. "Gone" is only said where it is certain.

What cannot be known for certain keeps its claim until its lease ends.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from worker.system.identity import boot_id, machine_id, pid_namespace, uptime_seconds
from worker.system.process_tree import ProcessId, is_alive, read_stat

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
