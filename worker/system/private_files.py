"""Files that only their owner may read: everything that the launcher and its children write."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

PRIVATE_UMASK = 0o077
OPEN_BITS = stat.S_IRWXG | stat.S_IRWXO
# A folder of evidence may hold a million attempts: that many tell enough.
MOST_LOOKED_AT = 2000


def write_privately() -> None:
    """Let this process and all its children make files that nobody else may read."""
    os.umask(PRIVATE_UMASK)


def is_open_to_others(path: Path) -> bool:
    """Tell whether another user may read, write or enter; False when there is nothing."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return bool(mode & OPEN_BITS)


def open_inside(folder: Path) -> Path | None:
    """Find something in a folder that another user may read; None when there is nothing.

    A folder that nobody else may enter hides all that is in it. Hidden files are not looked at.
    """
    if not is_open_to_others(folder):
        return None
    for number, path in enumerate(_visible(folder)):
        if is_open_to_others(path):
            return path
        if number > MOST_LOOKED_AT:
            break
    return None


def close_to_others(folder: Path) -> None:
    """Take every right to a folder of ours away from other users; others' folders are left."""
    try:
        found = folder.stat()
        if found.st_uid == os.geteuid() and found.st_mode & OPEN_BITS:
            folder.chmod(stat.S_IMODE(found.st_mode) & ~OPEN_BITS)
    except OSError:
        # What is written there is private by itself; `doctor` tells of the folder.
        return


def _visible(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    yield Path(entry.path)
    except OSError:
        return
