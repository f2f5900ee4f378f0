"""Nightshift's own database server: one per folder, private to its owner, started on demand.

Guarantees one server per folder however many processes ask at once, and a data folder that is
either whole or absent. Speaks no SQL: whoever wants a connection goes to `socket_path`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from worker.database.server_binary import ServerBinary, find_server, flavour_of_data, remedy_for
from worker.errors import DatabaseUnavailable

START_SECONDS = 90.0
STOP_SECONDS = 60.0
POLL_SECONDS = 0.02
# A process that is just becoming another program shows no arguments for a moment.
VANISHED_SECONDS = 0.5
# Longer than another process can need to initialise, start or stop the same server.
LOCK_SECONDS = 300.0
SOCKET_PATH_BYTES = 107
LOG_TAIL_LINES = 6


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What can be said of the private server without logging in to it."""

    is_running: bool
    answers: bool
    pid: int | None
    folder: Path
    socket_path: Path
    log_path: Path
    port: int | None
    flavour: str | None


class PrivateServer:
    """A MySQL or MariaDB server that lives in one folder and outlives whoever started it.

    It listens on a unix socket that only the folder's owner can reach, where root needs no
    password. With `port` it also listens on 127.0.0.1, open to all users of the machine: for tests.
    """

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        binary: Path | None = None,
        extra_args: Sequence[str] = (),
    ) -> None:
        self.folder = folder.resolve()
        self.port = port
        self._binary = binary
        self._extra_args = tuple(extra_args)

    @property
    def data_path(self) -> Path:
        return self.folder / "data"

    @property
    def log_path(self) -> Path:
        return self.folder / "server.log"

    @property
    def socket_path(self) -> Path:
        """Where clients connect: in the folder, or in a short one when that path is too long."""
        inside = self.folder / "mysql.sock"
        if len(os.fsencode(inside)) <= SOCKET_PATH_BYTES:
            return inside
        # Not tempfile.gettempdir(): every process must find the same path, whatever its TMPDIR.
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        return Path("/tmp") / f"nightshift-{os.getuid()}-{digest}" / "mysql.sock"  # noqa: S108

    def start(self) -> None:
        """Start the server and wait until it answers; do nothing when it already does.

        Raises DatabaseUnavailable with the end of the server's log and what to do about it.
        """
        with self._explained(), self._locked():
            log_start = self._log_size()
            if self.pid() is None:
                server = find_server(self._binary)
                server.refuse_foreign(self.data_path)
                if not self.data_path.exists():
                    self._initialise(server)
                log_start = self._log_size()
                self._launch(server)
            self._wait_until_it_answers(log_start)

    def stop(self) -> None:
        """Shut the server down and wait until it is gone; kill it if it does not go."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Stop the server if it runs, and start it."""
        self.stop()
        self.start()

    def is_running(self) -> bool:
        """Say whether the server's process lives, whether or not it answers yet."""
        return self.pid() is not None

    def pid(self) -> int | None:
        """Find the server's process by its data folder, so that a stale pid file cannot lie."""
        with suppress(OSError, ValueError):
            pid = int(self._pid_path.read_text())
            if self._serves_this_folder(pid):
                return pid
        pids = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())  # noqa: PTH208
        return next((pid for pid in pids if self._serves_this_folder(pid)), None)

    def status(self) -> ServerStatus:
        """Look at the server without changing anything."""
        pid = self.pid()
        return ServerStatus(
            is_running=pid is not None,
            answers=pid is not None and self._answers(),
            pid=pid,
            folder=self.folder,
            socket_path=self.socket_path,
            log_path=self.log_path,
            port=self.port,
            flavour=flavour_of_data(self.data_path),
        )

    @property
    def _pid_path(self) -> Path:
        return self.folder / "server.pid"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the operating system refuses into one line that names the folder."""
        try:
            yield
        except OSError as error:
            reason = f"the private server in {self.folder} cannot be had: {error}"
            raise DatabaseUnavailable(f"{reason}; {remedy_for(str(error), self.folder)}") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let one process at a time start or stop it; the kernel frees the lock of a dead one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        with (self.folder / "lock").open("w") as lock:
            deadline = time.monotonic() + LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        held = f"another process has held {lock.name} for {LOCK_SECONDS:g} s"
                        raise DatabaseUnavailable(f"{held}; end it and try again") from None
                    time.sleep(POLL_SECONDS)
            yield

    def _initialise(self, server: ServerBinary) -> None:
        """Make the data folder beside its final place, so that it is never seen half made."""
        for leftover in self.folder.glob("data.partial-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(prefix="data.partial-", dir=self.folder))
        log_start = self._log_size()
        try:
            server.initialise(partial, self.log_path, self._own_tmp())
            partial.rename(self.data_path)
        except subprocess.SubprocessError as error:
            what = f"could not be initialised by {server.path}"
            raise self._failure(what, log_start) from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _launch(self, server: ServerBinary) -> None:
        """Start the server as nobody's child, so that no starter has to reap or spare it."""
        self._prepare_socket_folder()
        # MySQL refuses to start over a lock that names a live pid, even a reused one or a zombie.
        for stale in (self.socket_path, Path(f"{self.socket_path}.lock"), self._pid_path):
            stale.unlink(missing_ok=True)
        command = [
            *("setsid", "--fork", *server.serve_command()),
            f"--datadir={self.data_path}",
            f"--tmpdir={self._own_tmp()}",
            f"--socket={self.socket_path}",
            f"--pid-file={self._pid_path}",
            f"--log-error={self.log_path}",
            *self._network_options(),
            *self._extra_args,
        ]
        with self.log_path.open("ab") as log:
            subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, umask=0o077, check=True
            )

    def _own_tmp(self) -> Path:
        # A server that starts removes the temporary tables it finds: in a shared folder, others'.
        folder = self.folder / "tmp"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def _network_options(self) -> tuple[str, ...]:
        if self.port is None:
            return ("--skip-networking",)
        return ("--bind-address=127.0.0.1", f"--port={self.port}")

    def _prepare_socket_folder(self) -> None:
        """Make the short socket folder ours alone, and leave a link to it where one would look."""
        folder = self.socket_path.parent
        if folder == self.folder:
            return
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if folder.is_symlink() or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise DatabaseUnavailable(
                f"{folder} should hold the private server's socket, but others can reach it; "
                "remove it and try again"
            )
        link = self.folder / "mysql.sock"
        link.unlink(missing_ok=True)
        link.symlink_to(self.socket_path)

    def _wait_until_it_answers(self, log_start: int) -> None:
        seen_at = time.monotonic()
        deadline = seen_at + START_SECONDS
        while not self._answers():
            if self.pid() is not None:
                seen_at = time.monotonic()
            elif time.monotonic() - seen_at > VANISHED_SECONDS:
                raise self._failure("stopped while it started", log_start)
            if time.monotonic() > deadline:
                raise self._failure(f"runs but gave no answer in {START_SECONDS:g} s", log_start)
            time.sleep(POLL_SECONDS)

    def _answers(self) -> bool:
        """Connect and read the server's greeting: a socket that accepts may still say nothing."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(2.0)
            try:
                client.connect(str(self.socket_path))
                return len(client.recv(5)) == 5
            except OSError:
                return False

    def _end(self, how: signal.Signals) -> None:
        """Send the signal to the server and wait for its end, by a handle that pids cannot fool."""
        if not self.folder.exists():
            return
        with self._explained(), self._locked():
            pid = self.pid()
            if pid is None:
                return
            try:
                handle = os.pidfd_open(pid)
            except ProcessLookupError:
                return
            try:
                if self._serves_this_folder(pid):
                    _signal_and_wait(handle, how)
            finally:
                os.close(handle)

    def _serves_this_folder(self, pid: int) -> bool:
        """Read the process's own arguments; those of a zombie are empty."""
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return b"--datadir=" + os.fsencode(self.data_path) in arguments

    def _log_size(self) -> int:
        return self.log_path.stat().st_size if self.log_path.exists() else 0

    def _failure(self, what: str, log_start: int) -> DatabaseUnavailable:
        """Tell what failed, what to do, and the last lines the server logged since then."""
        said = self.log_path.read_bytes()[log_start:].decode(errors="replace")
        tail = [line for line in said.splitlines() if line.strip()][-LOG_TAIL_LINES:]
        summary = f"the private server in {self.folder} {what}; {remedy_for(said, self.log_path)}"
        return DatabaseUnavailable("\n  ".join([summary, *tail]))


def _signal_and_wait(handle: int, how: signal.Signals) -> None:
    """Signal a process and return once it has let go of its files; kill it if it lingers."""
    waiter = select.poll()
    waiter.register(handle, select.POLLIN)
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, how)
        if not waiter.poll(STOP_SECONDS * 1000):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            waiter.poll(STOP_SECONDS * 1000)
