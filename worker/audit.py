"""No process and no temporary folder of a dead worker is left when a run starts or ends.

Each worker's browser and driver carry the worker's own temporary folder in their environment, and
the folder's name says whose it is. So what is ours is known for certain, and nothing else touched.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from worker.browser.process_tree import ProcessId, all_processes, identify, is_alive, kill

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
    """End the processes and remove the folders of workers that live no more."""
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
    marks = [f"TMPDIR={folder}".encode() for folder in folders]
    found = []
    for stat in all_processes():
        try:
            environment = Path(f"/proc/{stat.pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(mark in environment for mark in marks) and not stat.is_dead:
            found.append(stat.id)
    return found
