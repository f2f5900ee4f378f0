"""No process and no temporary folder of a dead worker is left when a run starts or ends.

Each worker's browser and driver carry the worker's own temporary folder in their environment, and
the folder's name says whose it is. So what is ours is known for certain, and nothing else touched.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from worker.system.process_tree import ProcessId, all_processes, identify, is_alive, kill

PREFIX = "worker-"


@dataclass(frozen=True, slots=True)
class Audit:
    """What was left behind, and is gone now."""

    processes: int = 0
    folders: int = 0


def folder_name(slot: int) -> str:
    """Name this worker's temporary folder after its process, which no other will ever be."""
    process = identify(os.getpid())
    assert process is not None
    return f"{PREFIX}{slot}-{process.pid}-{process.start_time}"


def clean_up(tmp_dir: Path) -> Audit:
    """End the processes and remove the folders of dead workers."""
    abandoned = [folder for folder in tmp_dir.glob(f"{PREFIX}*") if not _has_owner(folder)]
    if not abandoned:
        return Audit()
    strays = _processes_using(abandoned)
    for process in strays:
        kill(process)
    for folder in abandoned:
        shutil.rmtree(folder, ignore_errors=True)
    return Audit(len(strays), len(abandoned))


def _has_owner(folder: Path) -> bool:
    try:
        _, pid, started = folder.name.removeprefix(PREFIX).split("-")
        return is_alive(ProcessId(int(pid), int(started)))
    except ValueError:
        # Not a name that we give.
        return True


def _processes_using(folders: list[Path]) -> list[ProcessId]:
    """Find what was started with one of the folders, and the whole group of each browser in it.

    Chromium's helpers do not keep the environment, but never leave its group and session.
    """
    marks = [f"TMPDIR={folder}".encode() for folder in folders]
    everything = [stat for stat in all_processes() if not stat.is_dead]
    marked = [stat for stat in everything if any(mark in _environment(stat.pid) for mark in marks)]
    leaders = {stat.pid for stat in marked if stat.pid == stat.group == stat.session}
    helpers = [stat for stat in everything if stat.group in leaders and stat.session in leaders]
    return list({stat.id: None for stat in (*marked, *helpers)})


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
