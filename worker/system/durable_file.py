"""Files that are there in full or not at all, even after a power cut; for their owner alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

ENDING = ".partial"


def partial_beside(path: Path) -> Path:
    """Name the unfinished file of a path, like that of no other writer: .NAME.PID-THREAD.partial.

    Two that write one path at once must neither mix their bytes nor rename each other's file.
    """
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}{ENDING}")


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file by this content and force it to disk; raises OSError, leaving the old one."""
    with whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path, partial: Path | None = None) -> Iterator[BinaryIO]:
    """Give a file to write that takes the place of `path`, on disk, when the block ends well.

    Until then it is called `partial`, and what stood there before is removed. If the block raises,
    the old file stays.
    """
    partial = partial or partial_beside(path)
    partial.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(partial, flags, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)
    except BaseException:
        # On a full disk the half-written file would only take up what little is left.
        partial.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
