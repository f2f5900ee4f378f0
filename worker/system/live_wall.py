"""The folder of the live wall: that somebody looks, and the last picture of each worker's page.

Who looks and who works are on one machine, and need share nothing else. Pictures show private
pages: only their owner may read them, each is small, and they go when nobody looks any more.
"""

from __future__ import annotations

import json
import os
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worker.system.durable_file import ENDING, partial_beside

WISH = "wanted"
SUFFIX = ".picture"
# A page that is looked at asks every two seconds.
WISH_SECONDS = 8.0
MAX_BYTES = 256 * 1024
MAX_HEAD_BYTES = 1024
JPEG = b"\xff\xd8\xff"
_OWNERS_FOLDER, _OWNERS_FILE = 0o700, 0o600


@dataclass(frozen=True, slots=True)
class Picture:
    """What a worker's page looked like; without an image, `why` says what for."""

    job_id: int
    # By this machine's clock.
    taken_at: float
    image: bytes
    why: str = ""

    @property
    def age_seconds(self) -> float:
        """How long ago it was taken."""
        return max(0.0, time.time() - self.taken_at)


def folder_of(state_dir: Path, database: str) -> Path:
    """Name the folder; pools on several databases may share one state folder."""
    return state_dir / "live" / database


def ask(folder: Path) -> None:
    """Say that somebody looks now; raises OSError where the folder is not ours to write."""
    folder.mkdir(parents=True, exist_ok=True, mode=_OWNERS_FOLDER)
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(folder / WISH, flags, _OWNERS_FILE)
    try:
        os.utime(number)
    finally:
        os.close(number)


def is_asked(folder: Path) -> bool:
    """Tell whether somebody looks; one call to the kernel."""
    try:
        asked_at = os.lstat(folder / WISH).st_mtime
    except OSError:
        return False
    return abs(time.time() - asked_at) < WISH_SECONDS


def keep(folder: Path, incarnation: int, job_id: int, image: bytes, why: str = "") -> None:
    """Put a picture in the place of the worker's last one, whole or not at all; raises OSError.

    What is too large or no JPEG is not kept; its place says so.
    """
    if image and not (image.startswith(JPEG) and len(image) <= MAX_BYTES):
        image, why = b"", "the browser sent what is no small picture"
    head = json.dumps({"job": job_id, "why": why[:200]}).encode()
    path = folder / f"{incarnation}{SUFFIX}"
    partial = partial_beside(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(partial, flags, _OWNERS_FILE), "wb") as file:
            file.write(head + b"\n" + image)
        partial.rename(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def read(folder: Path, incarnation: int) -> Picture | None:
    """Read a worker's last picture; None when there is none, or something else in its place."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(folder / f"{incarnation}{SUFFIX}", flags), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES + MAX_HEAD_BYTES:
                return None
            head, _, image = file.read().partition(b"\n")
        told = json.loads(head)
        job_id, why = int(told["job"]), str(told["why"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if image and not image.startswith(JPEG):
        return None
    return Picture(job_id, found.st_mtime, image, why)


def remove(folder: Path, incarnation: int) -> None:
    """Remove a worker's picture, because it has ended; never raises."""
    with suppress(OSError):
        (folder / f"{incarnation}{SUFFIX}").unlink(missing_ok=True)


def remove_all(folder: Path) -> int:
    """Remove every picture, because nobody looks; return how many there were; never raises."""
    gone = 0
    with suppress(OSError):
        for path in folder.iterdir():
            # A worker that was killed may have left half of one.
            if path.name.endswith((SUFFIX, ENDING)):
                path.unlink(missing_ok=True)
                gone += 1
    return gone


def stop_asking(folder: Path) -> None:
    """Take the wish back and remove what came of it; never raises."""
    with suppress(OSError):
        (folder / WISH).unlink(missing_ok=True)
    remove_all(folder)
