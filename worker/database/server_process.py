"""The private server's process: found by its data folder, signalled by a handle, not a pid."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worker.database.server_socket import trusted_users

STOP_SECONDS = 60.0
PID_FILE = "server.pid"


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """The process that serves one folder, if there is one."""

    folder: Path

    @property
    def pid_path(self) -> Path:
        return self.folder / PID_FILE

    @property
    def data_path(self) -> Path:
        return self.folder / "data"

    def pid(self) -> int | None:
        """Find the process by its arguments, so that a stale pid file cannot lie."""
        with suppress(OSError, ValueError):
            pid = int(self.pid_path.read_text())
            if self._is_served_by(pid):
                return pid
        pids = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())  # noqa: PTH208
        return next((pid for pid in pids if self._is_served_by(pid)), None)

    def end(self, how: signal.Signals) -> None:
        """Send the signal and wait for the end; kill what does not go."""
        pid = self.pid()
        if pid is None:
            return
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            if self._is_served_by(pid):
                _signal_and_wait(handle, how)
        finally:
            os.close(handle)

    def _is_served_by(self, pid: int) -> bool:
        if b"--datadir=" + os.fsencode(self.data_path) not in _arguments(pid):
            return False
        # Anybody may start a process with such arguments: it must also be the owner's.
        return _user(pid) in trusted_users(self.folder)


def is_private_server(pid: int) -> bool:
    """Tell whether a process is somebody's private server, which outlives whoever started it."""
    arguments = _arguments(pid)
    data = (
        each.removeprefix(b"--datadir=") for each in arguments if each.startswith(b"--datadir=")
    )
    pid_file = os.fsencode(PID_FILE)
    return any(b"--pid-file=" + path[: -len(b"data")] + pid_file in arguments for path in data)


def _arguments(pid: int) -> list[bytes]:
    """Read a process's own arguments; those of a zombie are empty."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def _user(pid: int) -> int | None:
    """Tell with whose rights a process runs; None when it is gone."""
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None


def _signal_and_wait(handle: int, how: signal.Signals) -> None:
    """Signal a process and return once it has let go of its files; kill it if it lingers."""
    waiter = select.poll()
    waiter.register(handle, select.POLLIN)
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, how)
        if not waiter.poll(STOP_SECONDS * 1000):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            waiter.poll(STOP_SECONDS * 1000)
