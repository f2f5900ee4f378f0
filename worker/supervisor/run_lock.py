"""One run per database on one host: a file lock that the kernel releases with its holder.

A record lock is not inherited by forked children, so it ends exactly when the launcher does. The
heart holds a lock in the database beside it, for launchers that do not share a file system.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError


class RunLock:
    """The lock file of one database."""

    def __init__(self, state_dir: Path, database: DatabaseSettings) -> None:
        self.path = state_dir / "run" / f"{database.key}.lock"
        self._file: IO[str] | None = None

    def try_acquire(self) -> bool:
        """Take the lock if it is free, and leave word of who holds it."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("a+", encoding="utf-8")
        except OSError as error:
            raise SettingsError(
                f"the lock file {self.path} cannot be written: {error.strerror}; "
                f"set NIGHTSHIFT_STATE_DIR to a folder of yours"
            ) from error
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return False
        file.truncate(0)
        json.dump({"pid": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%S %Z")}, file)
        file.flush()
        self._file = file
        return True

    def wait(self, keep_waiting: Callable[[], bool], poll_seconds: float = 0.5) -> bool:
        """Wait until the lock is ours; False when told to stop waiting."""
        while not self.try_acquire():
            if not keep_waiting():
                return False
            time.sleep(poll_seconds)
        return True

    def release(self) -> None:
        """Give the lock up; closing the file would do as well."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def holder(self) -> str:
        """Describe the run that holds the lock, as far as it left word."""
        try:
            word: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return "another run"
        return f"the run with pid {word.get('pid')}, started {word.get('since')}"
