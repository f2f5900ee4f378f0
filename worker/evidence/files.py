"""Put evidence files down so that a reader never meets half of one, nor two attempts mixed.

File names are the caller's constants; nothing here comes from a page.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path


def new_attempt_folder(errors_dir: Path, job_id: int, attempt: int | str) -> Path:
    """Make errors/<job>/<attempt>/, moving an older one of that name aside; raises OSError."""
    folder = errors_dir / str(job_id) / str(attempt)
    if folder.exists():
        numbers = itertools.count(1)
        aside = (folder.with_name(f"{attempt}.{number}") for number in numbers)
        folder.rename(next(path for path in aside if not path.exists()))
    try:
        folder.mkdir(parents=True)
    except FileNotFoundError:
        # A prune removed the job's empty folder at this very moment.
        folder.mkdir(parents=True)
    return folder


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that is there in full or not at all, even after a power cut."""
    partial = path.with_name(f".{path.name}.partial")
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
