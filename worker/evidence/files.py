"""The folders of evidence: one per attempt, so that no two attempts are ever mixed."""

from __future__ import annotations

import itertools
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
