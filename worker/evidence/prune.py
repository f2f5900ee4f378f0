"""Evidence goes by age and by disk budget, oldest first; never what may be in the making.

A folder is renamed before it is emptied, so that nobody meets half of one and a prune that was
killed is finished by the next. Links are not followed, and only folders of jobs and of good pages
are looked into.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR

from worker.evidence import good_pages

# Evidence takes at most 20 s to write; a trace of a rehearsal as long as its job.
FRESH_SECONDS = 900.0
_DOOMED = ".pruned-"
_BLOCK_BYTES = 512


@dataclass(frozen=True, slots=True)
class Folder:
    """The evidence of an attempt, or a good page: how long ago it was written, its room on disk."""

    path: Path
    age_seconds: float
    size: int
    is_doomed: bool
    is_good_page: bool = False


@dataclass(frozen=True, slots=True)
class Pruning:
    """What is to go, and what stays: over its budget still, if what is left is too fresh."""

    doomed: list[Folder]
    empty: list[Path]
    kept: int
    kept_bytes: int
    kept_good_pages: int
    is_over_budget: bool

    @property
    def freed_bytes(self) -> int:
        return sum(folder.size for folder in self.doomed)


def plan(
    errors_dir: Path, *, older_than_seconds: float | None = None, max_bytes: int | None = None
) -> Pruning:
    """Choose what goes: remains of a former prune, what is too old, the oldest over the budget."""
    empty: list[Path] = []
    found = sorted(_folders(errors_dir, empty), key=lambda folder: -folder.age_seconds)
    total = sum(folder.size for folder in found)
    doomed = []
    for folder in found:
        is_old = older_than_seconds is not None and folder.age_seconds >= older_than_seconds
        is_over = max_bytes is not None and total > max_bytes
        if folder.is_doomed or (folder.age_seconds >= FRESH_SECONDS and (is_old or is_over)):
            doomed.append(folder)
            total -= folder.size
    over = max_bytes is not None and total > max_bytes
    good = good_pages_among(found) - good_pages_among(doomed)
    return Pruning(doomed, empty, len(found) - len(doomed) - good, total, good, over)


def good_pages_among(folders: list[Folder]) -> int:
    """Count the good pages among some folders."""
    return sum(folder.is_good_page for folder in folders)


def carry_out(pruning: Pruning) -> Iterator[Folder]:
    """Remove folder by folder, telling of each that is gone; another prune may be at it too."""
    for folder in pruning.doomed:
        try:
            shutil.rmtree(_set_aside(folder))
        except FileNotFoundError:
            continue
        yield folder
        _remove_if_empty(folder.path.parent)
    for path in pruning.empty:
        _remove_if_empty(path)


def _remove_if_empty(job: Path) -> None:
    """Let a job's folder go with its last attempt; one that is not empty refuses to."""
    try:
        job.rmdir()
    except OSError:
        pass


def _set_aside(folder: Folder) -> Path:
    if folder.is_doomed:
        return folder.path
    aside = folder.path.with_name(f"{_DOOMED}{folder.path.name}-{time.monotonic_ns()}")
    return folder.path.rename(aside)


def _folders(errors_dir: Path, empty: list[Path]) -> Iterator[Folder]:
    """Look into every job's folder; note those that a killed prune has left without attempts."""
    now = time.time()
    for job in _subfolders(errors_dir):
        if not job.name.isdigit():
            continue
        attempts = _subfolders(Path(job))
        if not attempts:
            empty.append(Path(job))
        for attempt in attempts:
            written, size = _look_into(Path(attempt))
            is_doomed = attempt.name.startswith(_DOOMED)
            yield Folder(Path(attempt), now - written, size, is_doomed)
    for page in good_pages.folders(errors_dir):
        written, size = _look_into(page)
        is_doomed = page.name.startswith(_DOOMED)
        yield Folder(page, now - written, size, is_doomed, is_good_page=True)


def _subfolders(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def _look_into(folder: Path) -> tuple[float, int]:
    """Tell when anything in a folder was last written, and the room all of it takes."""
    written, size = 0.0, 0
    pending = [folder]
    while pending:
        current = pending.pop()
        try:
            stats = [current.lstat()]
            with os.scandir(current) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry))
                    else:
                        stats.append(entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            # A file that is being renamed into its place, or another prune.
            written = time.time()
            continue
        written = max(written, *(stat.st_mtime for stat in stats))
        size += sum(_room(stat) for stat in stats)
    return written, size


def _room(stat: os.stat_result) -> int:
    """Tell the room of a file, or its part of it: many failures may share one good page."""
    is_shared = not S_ISDIR(stat.st_mode) and stat.st_nlink > 1
    return stat.st_blocks * _BLOCK_BYTES // (stat.st_nlink if is_shared else 1)
