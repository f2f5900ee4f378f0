"""Put evidence files down so that a reader never meets half of one, nor two attempts mixed.

File names are the caller's constants; nothing here comes from a page.
"""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path


def new_attempt_folder(
    errors_dir: Path, job_id: int, attempt: int | str, *, database: str | None = None
) -> Path:
    """Make the folder for the evidence of an attempt and return it; raises OSError.

    That is errors/<job>/<attempt>/. An older one of that name, of an attempt that was handed back
    and its number used again, moves aside to <attempt>.1, .2 and so on. One that belongs to
    another database stays where its rows say it is, and ours is <attempt>-<database>.
    """
    folder = errors_dir / str(job_id) / str(attempt)
    if database is not None and _owner(folder) not in (None, database):
        folder = folder.with_name(f"{attempt}-{database}")
    if folder.exists():
        numbers = itertools.count(1)
        aside = (folder.with_name(f"{folder.name}.{number}") for number in numbers)
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


def _owner(folder: Path) -> str | None:
    """Tell which database a folder of evidence belongs to; None when it does not say."""
    try:
        facts = json.loads((folder / "error.json").read_bytes())
    except (OSError, ValueError):
        return None
    owner = facts.get("database") if isinstance(facts, dict) else None
    return owner if isinstance(owner, str) else None
