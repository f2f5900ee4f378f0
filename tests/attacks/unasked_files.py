"""A file that nobody asked for, and the search for what is left of it."""

from __future__ import annotations

import time
from pathlib import Path

CONTENT = b"unasked for " * 1000
ATTACHED = {"Content-Disposition": "attachment; filename=a.bin", "Content-Type": "x/y"}


def kept(*folders: Path) -> list[str]:
    """Name the files that hold what was offered."""
    found = []
    for path in [path for folder in folders for path in folder.rglob("*") if path.is_file()]:
        try:
            if b"unasked for " in path.read_bytes() and path.parent.name != "Cache_Data":
                found.append(str(path))
        except OSError:
            # Chromium has just removed it.
            continue
    return found


def nothing_is_kept(*folders: Path) -> None:
    # Chromium begins to write before it asks whether it may, and cleans up after the answer.
    deadline = time.monotonic() + 5
    while (found := kept(*folders)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert found == []
