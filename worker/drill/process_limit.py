"""A machine that cannot start a process: a control group that lets one process have no children.

Root's own limits (RLIMIT_NPROC) do not bind root, a control group binds everybody.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from worker.drill.strike import NoTarget

ROOT = Path("/sys/fs/cgroup")


def is_available() -> bool:
    """Tell whether this process may make such a group here."""
    group = _group()
    try:
        group.mkdir()
    except OSError:
        return False
    try:
        return (group / "pids.max").exists()
    finally:
        group.rmdir()


@contextmanager
def no_new_processes(pid: int) -> Iterator[None]:
    """Let every fork of one process fail with EAGAIN; its children of before are not affected.

    Raises NoTarget when the process has ended.
    """
    group = _group()
    group.mkdir()
    try:
        (group / "pids.max").write_text("0")
        try:
            (group / "cgroup.procs").write_text(str(pid))
        except ProcessLookupError:
            raise NoTarget from None
        yield
    finally:
        for inside in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                (group.parent / "cgroup.procs").write_text(inside)
        group.rmdir()


def _group() -> Path:
    """Name a group below our own, in the old hierarchy or the new one."""
    places = {}
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        places[controllers] = path.lstrip("/")
    own = ROOT / "pids" / places["pids"] if "pids" in places else ROOT / places.get("", "")
    return own / f"nightshift-drill-{os.getpid()}"
