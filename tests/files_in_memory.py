"""Where tests keep their files: in memory, if this machine has room for them there.

A database's tables are files, and a disk takes ten times as long to make them.
"""

from __future__ import annotations

import os
from pathlib import Path

IN_MEMORY = Path("/dev/shm")
ROOM_BYTES = 6 * 2**30
# pytest's own name for the folder above all of its temporary ones.
VARIABLE = "PYTEST_DEBUG_TEMPROOT"


def keep_files_in_memory() -> None:
    """Have pytest make its folders there, unless somebody has chosen another place."""
    if VARIABLE not in os.environ and "TMPDIR" not in os.environ and _has_room(IN_MEMORY):
        os.environ[VARIABLE] = str(IN_MEMORY)


def _has_room(folder: Path) -> bool:
    try:
        facts = os.statvfs(folder)
    except OSError:
        return False
    can_run_programs = not facts.f_flag & os.ST_NOEXEC
    memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    room = min(facts.f_bavail * facts.f_frsize, memory)
    return can_run_programs and os.access(folder, os.W_OK) and room >= ROOM_BYTES
