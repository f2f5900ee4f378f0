"""One member of a cluster: a server process in a network namespace, reached by a unix socket."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from worker.database.client import DatabaseError, Row
from worker.database.session import open_session
from worker.database_settings import DatabaseSettings
from worker.errors import DatabaseUnavailable

START_SECONDS = 60.0
# One that takes longer to shut down on a busy machine is killed.
STOP_SECONDS = 15.0
POLL_SECONDS = 0.1
STATEMENT_SECONDS = 30.0
LOCK_WAIT_SECONDS = 5


@dataclass(slots=True)
class Member:
    """A server that can be started, killed, stopped, woken and asked."""

    number: int
    folder: Path
    socket: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        return f"m{self.number}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def pid(self) -> int | None:
        """The server's process, as long as it runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def settings(self) -> DatabaseSettings:
        return DatabaseSettings(unix_socket=str(self.socket), database="")

    def start(self, command: Sequence[str], environment: dict[str, str]) -> None:
        """Start the server and wait until it answers; raises DatabaseUnavailable with its log."""
        self.socket.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # By its environment it is found if the drill itself is killed.
                env={**os.environ, **environment, "NIGHTSHIFT_DRILL_FOLDER": str(self.folder)},
                start_new_session=True,
                umask=0o077,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.pid is None or time.monotonic() > deadline:
                tail = self.log.read_text(errors="replace").splitlines()[-8:]
                raise DatabaseUnavailable("\n  ".join([f"{self.name} does not start", *tail]))
            time.sleep(POLL_SECONDS)

    def answers(self) -> bool:
        """Tell whether the server takes connections."""
        try:
            self.ask("SELECT 1", seconds=2.0)
        except (DatabaseError, OSError):
            return False
        return True

    def ask(self, *statements: str, seconds: float = STATEMENT_SECONDS) -> list[Row]:
        """Run statements on the member as it is; return the last one's rows.

        Raises DatabaseError or OSError: nothing is tried again, and nothing is waited for.
        """
        rows: list[Row] = []
        with (
            closing(open_session(self.settings, seconds, LOCK_WAIT_SECONDS)) as connection,
            connection.cursor() as cursor,
        ):
            for statement in statements:
                cursor.execute(statement)
                rows = list(cursor.fetchall())
        return rows

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        self._end(signal.SIGKILL)

    def shut_down(self) -> None:
        """Let the server leave its cluster and end."""
        self.wake()
        self._end(signal.SIGTERM)

    def stop(self) -> None:
        """Have the server do nothing, until it is woken."""
        self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let a stopped server go on."""
        self._signal(signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        self._signal(how)
        if self._process is None:
            return
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _signal(self, number: signal.Signals) -> None:
        if self.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)
