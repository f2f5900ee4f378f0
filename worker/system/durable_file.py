"""Files that are there in full or not at all, even after a power cut."""

from __future__ import annotations

import os
import threading
from pathlib import Path

ENDING = ".partial"


def partial_beside(path: Path) -> Path:
    """Name the unfinished file of a path, like that of no other writer: .NAME.PID-THREAD.partial.

    Two that write one path at once must neither mix their bytes nor rename each other's file.
    """
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}{ENDING}")


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file by this content and force it to disk; raises OSError, leaving the old one."""
    partial = partial_beside(path)
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)
    except OSError:
        # On a full disk the half-written file would only take up what little is left.
        partial.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
