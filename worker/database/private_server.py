"""Nightshift's own database server: one per folder, private to its owner, started on demand.

Guarantees one server per folder however many processes ask at once, and a data folder that is
either whole or absent. It speaks no SQL; clients connect to `socket_path`.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from worker.database import server_socket
from worker.database.server_binary import ServerBinary, find_server, flavour_of_data, remedy_for
from worker.database.server_folder import POLL_SECONDS, ServerFolder
from worker.database.server_process import ServerProcess
from worker.database_settings import DatabaseSettings
from worker.errors import DatabaseUnavailable

START_SECONDS = 90.0
# A process that is just becoming another program shows no arguments for a moment.
VANISHED_SECONDS = 0.5


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


@dataclass(frozen=True, slots=True)
class PrivateSettings(DatabaseSettings):
    """The queue is on the private server: a client that finds it killed may start it again."""

    server_folder: Path = Path()

    @property
    def server(self) -> PrivateServer:
        return PrivateServer(self.server_folder)

    def __str__(self) -> str:
        return DatabaseSettings.__str__(self)


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
        self._place = ServerFolder(self.folder)
        self._process = ServerProcess(self.folder)

    @property
    def data_path(self) -> Path:
        return self._process.data_path

    @property
    def log_path(self) -> Path:
        return self._place.log_path

    @property
    def socket_path(self) -> Path:
        return server_socket.path_for(self.folder)

    @property
    def was_stopped(self) -> bool:
        """Whether it was last stopped on purpose, and not started since."""
        return self._place.was_stopped()

    def start(self) -> None:
        """Start the server and wait until it answers; do nothing when it already does.

        Raises DatabaseUnavailable with the end of the server's log and what to do about it.
        """
        with self._explained(), self._place.locked():
            self._place.mark_stopped(False)
            log_start = self._place.log_size()
            if self.pid() is None:
                server = find_server(self._binary)
                server.refuse_foreign(self.data_path)
                if not self.data_path.exists():
                    self._initialise(server)
                log_start = self._place.log_size()
                self._launch(server)
            self._wait_until_it_answers(log_start)

    def revive(self) -> bool:
        """Start a server that was killed; tell whether this call did. Never waits for its answer.

        One that was stopped on purpose stays so. Any number of processes may call this at any time:
        one of them acts, and the others come back at once.
        """
        if self.was_stopped or not self.data_path.exists():
            return False
        try:
            with self._explained(), self._place.locked(wait_seconds=0.0):
                if self.was_stopped or self.pid() is not None or not self._place.may_revive():
                    return False
                self._launch(find_server(self._binary))
                self._wait_until_it_shows()
                return True
        except (DatabaseUnavailable, subprocess.SubprocessError):
            # Whoever noticed its absence tells of that.
            return False

    def absence(self, reason: str) -> str:
        """Say in one line why nobody can connect, and what to do."""
        where = f"the private server in {self.folder}"
        if self.was_stopped:
            return f"{where} was stopped; start it: python launcher.py db start"
        return (
            f"{where} does not answer ({reason}); a run starts it again by itself, "
            f"or do it now: python launcher.py db start"
        )

    def stop(self) -> None:
        """Shut the server down and wait until it is gone; kill it if it does not go."""
        if not self.folder.exists():
            return
        with self._explained(), self._place.locked():
            self._place.mark_stopped(True)
            self._process.end(signal.SIGTERM)

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        if not self.folder.exists():
            return
        with self._explained(), self._place.locked():
            self._process.end(signal.SIGKILL)

    def restart(self) -> None:
        """Stop the server if it runs, and start it."""
        self.stop()
        self.start()

    def is_running(self) -> bool:
        """Say whether the server's process lives, whether or not it answers yet."""
        return self.pid() is not None

    def pid(self) -> int | None:
        """Find the server's process."""
        return self._process.pid()

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

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the operating system refuses into one line that names the folder."""
        try:
            yield
        except OSError as error:
            reason = f"the private server in {self.folder} cannot be used: {error}"
            raise DatabaseUnavailable(f"{reason}; {remedy_for(str(error), self.folder)}") from error

    def _initialise(self, server: ServerBinary) -> None:
        """Make the data folder beside its final place, so that it is never seen half made."""
        for leftover in self.folder.glob("data.partial-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(prefix="data.partial-", dir=self.folder))
        log_start = self._place.log_size()
        try:
            server.initialise(partial, self.log_path, self._place.own_tmp())
            partial.rename(self.data_path)
        except subprocess.SubprocessError as error:
            what = f"could not be initialised by {server.path}"
            raise self._failure(what, log_start) from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _launch(self, server: ServerBinary) -> None:
        """Start the server as nobody's child, so that no starter has to reap or spare it."""
        server_socket.prepare(self.folder)
        # MySQL refuses to start over a lock that names a live pid, even a reused one or a zombie.
        for stale in (self.socket_path, Path(f"{self.socket_path}.lock"), self._process.pid_path):
            stale.unlink(missing_ok=True)
        command = [
            *("setsid", "--fork", *server.serve_command()),
            f"--datadir={self.data_path}",
            f"--tmpdir={self._place.own_tmp()}",
            f"--socket={self.socket_path}",
            f"--pid-file={self._process.pid_path}",
            f"--log-error={self.log_path}",
            *self._network_options(),
            *self._extra_args,
        ]
        with self.log_path.open("ab") as log:
            subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, umask=0o077, check=True
            )

    def _network_options(self) -> tuple[str, ...]:
        if self.port is None:
            return ("--skip-networking",)
        return ("--bind-address=127.0.0.1", f"--port={self.port}")

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

    def _wait_until_it_shows(self) -> None:
        """Keep the lock until others can see the process: for a moment it shows no arguments."""
        deadline = time.monotonic() + VANISHED_SECONDS
        while not self._process.pid_path.exists() and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)

    def _answers(self) -> bool:
        return server_socket.answers(self.folder)

    def _failure(self, what: str, log_start: int) -> DatabaseUnavailable:
        """Tell what failed, what to do, and the last lines the server logged since then."""
        said, tail = self._place.log_since(log_start)
        summary = f"the private server in {self.folder} {what}; {remedy_for(said, self.log_path)}"
        return DatabaseUnavailable("\n  ".join([summary, *tail]))
