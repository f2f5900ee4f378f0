"""One run per database, queue and host: file locks that the kernel releases with their holder.

A record lock is not inherited by forked children, so it ends exactly when the launcher does. The
heart holds a lock in the database beside it, for launchers that do not share a file system.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError
from worker.models import DEFAULT_QUEUE
from worker.system.identity import HOST_VARIABLE, this_host


class RunLock:
    """The lock files of the queues of one run; it has all of them, or none."""

    def __init__(
        self,
        state_dir: Path,
        database: DatabaseSettings,
        queues: Iterable[str] = (DEFAULT_QUEUE,),
    ) -> None:
        folder = state_dir / "run"
        # In one order for everybody: two runs that share queues never keep each other out.
        self.paths = [folder / _file_name(database, queue) for queue in sorted(set(queues))]
        self.path = self.paths[0]
        self._files: list[IO[str]] = []

    @classmethod
    def of_all_queues(cls, state_dir: Path, database: DatabaseSettings) -> RunLock:
        """The locks of every queue and host that a run has ever had here."""
        lock = cls(state_dir, database)
        known = lock.path.parent.glob(f"{database.key}*.lock")
        lock.paths = sorted({lock.path, *known})
        return lock

    def try_acquire(self) -> bool:
        """Take the locks if they are free, and leave word of who holds them."""
        for path in self.paths:
            file = _open(path)
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                self.release()
                self.path = path
                return False
            file.truncate(0)
            json.dump({"pid": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%S %Z")}, file)
            file.flush()
            self._files.append(file)
        return True

    def wait(self, keep_waiting: Callable[[], bool], poll_seconds: float = 0.5) -> bool:
        """Wait until the lock is ours; False when told to stop waiting."""
        while not self.try_acquire():
            if not keep_waiting():
                return False
            time.sleep(poll_seconds)
        return True

    def release(self) -> None:
        """Give the locks up; closing the files would do as well."""
        for file in self._files:
            file.close()
        self._files.clear()

    def holder(self) -> str:
        """Describe the run that holds a lock that we want, as far as it left word."""
        try:
            word: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return "another run"
        return f"the run with pid {word.get('pid')}, started {word.get('since')}"


def _file_name(database: DatabaseSettings, queue: str) -> str:
    parts = [database.key]
    # A folder belongs to one machine, unless hosts that are named by hand share it.
    if os.environ.get(HOST_VARIABLE, "").strip():
        parts.append(f"host-{_short(this_host().name)}")
    # A queue or a host may have a name that no file can have.
    if queue != DEFAULT_QUEUE:
        parts.append(_short(queue))
    return ".".join((*parts, "lock"))


def _short(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def _open(path: Path) -> IO[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a+", encoding="utf-8")
    except OSError as error:
        raise SettingsError(
            f"the lock file {path} cannot be written: {error.strerror}; "
            f"set NIGHTSHIFT_STATE_DIR to a folder of yours"
        ) from error
