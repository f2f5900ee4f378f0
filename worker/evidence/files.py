"""The folders of evidence: one per attempt, so that no two attempts are ever mixed."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def only_writer(errors_dir: Path, job_id: int) -> Iterator[None]:
    """Keep others who do the same from a job's evidence meanwhile; raises OSError.

    Of several processes that settle one dead worker's job, none moves aside what another writes.
    """
    job = errors_dir / str(job_id)
    job.mkdir(parents=True, exist_ok=True)
    lock = os.open(job, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def facts_of(folder: Path) -> dict[str, Any]:
    """Read what a folder of evidence says in its error.json; nothing when it says nothing."""
    try:
        facts = json.loads((folder / "error.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


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


def _owner(folder: Path) -> str | None:
    """Tell which database a folder of evidence belongs to; None when it does not say."""
    owner = facts_of(folder).get("database")
    return owner if isinstance(owner, str) else None
