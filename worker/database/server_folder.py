"""What lies in a private server's folder beside its data: the lock, the marks, the log."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from worker.errors import DatabaseUnavailable

POLL_SECONDS = 0.02
# Longer than another process can need to initialise, start or stop the same server.
LOCK_SECONDS = 300.0
# A server that was killed is started again at most this often: it may die of its own start.
REVIVE_EVERY_SECONDS = 10.0
LOG_TAIL_LINES = 6


@dataclass(frozen=True, slots=True)
class ServerFolder:
    """The folder of one private server."""

    path: Path

    @property
    def log_path(self) -> Path:
        return self.path / "server.log"

    @contextmanager
    def locked(self, wait_seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Let one process at a time start or stop it; the kernel frees the lock of a dead one."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)
        with (self.path / "lock").open("w") as lock:
            deadline = time.monotonic() + wait_seconds
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        held = f"another process has held {lock.name} for {wait_seconds:g} s"
                        raise DatabaseUnavailable(f"{held}; end it and try again") from None
                    time.sleep(POLL_SECONDS)
            yield

    def own_tmp(self) -> Path:
        """Make a temporary folder for this server alone.

        A server that starts removes the temporary tables it finds: in a shared folder, others'.
        """
        folder = self.path / "tmp"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def was_stopped(self) -> bool:
        """Tell whether the server was last stopped on purpose, and not started since."""
        return self._stopped.exists()

    def mark_stopped(self, is_stopped: bool) -> None:
        """Remember that the server is stopped on purpose, or no longer."""
        if is_stopped:
            self._stopped.touch()
        else:
            self._stopped.unlink(missing_ok=True)

    def may_revive(self) -> bool:
        """Tell whether another start is due, and remember it as made."""
        mark = self.path / "revived"
        # Another clock's time, or one from before the clock was set, must not hold it up for ever.
        if mark.exists() and abs(time.time() - mark.stat().st_mtime) < REVIVE_EVERY_SECONDS:
            return False
        mark.touch()
        return True

    def log_size(self) -> int:
        """Tell where in the log the next message will be."""
        return self.log_path.stat().st_size if self.log_path.exists() else 0

    def log_since(self, start: int) -> tuple[str, list[str]]:
        """Read what the server has logged since then: all of it, and its last lines."""
        said = self.log_path.read_bytes()[start:].decode(errors="replace")
        return said, [line for line in said.splitlines() if line.strip()][-LOG_TAIL_LINES:]

    @property
    def _stopped(self) -> Path:
        return self.path / "stopped"
