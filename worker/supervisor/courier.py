"""The courier: a child of the launcher that delivers webhooks while the pool works.

There is none until an event is due. It ends with the pool, after a moment for what is due then;
what remains waits in the outbox for the next run or for `launcher.py deliver`.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass

from worker import log
from worker.backoff import backoff_seconds
from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError
from worker.exit_codes import ExitCode
from worker.supervisor.patient_fork import PatientFork
from worker.supervisor.stopped import StoppedClock

# At the end of a run: how long it takes further events, and how long the last may take.
LAST_TAKES_SECONDS = 2.0
LAST_DELIVERY_SECONDS = 4.0
MAX_RESTART_SECONDS = 60.0
MAX_STOPPED_SECONDS = 60.0
EXIT_MISCONFIGURED = ExitCode.CONFIGURATION

logger = logging.getLogger("nightshift.courier")


@dataclass(slots=True)
class Courier:
    """One courier's life; `main` is what the forked child runs."""

    database: DatabaseSettings
    link: socket.socket
    _ending_since: float | None = None

    def main(self) -> int:
        """Deliver until the launcher closes the link."""
        # Here, not above: a launcher whose jobs have no callback does without the HTTP client.
        from worker.webhooks.deliveries import Deliveries
        from worker.webhooks.sender import WebhookSettings

        log.configure("courier")
        # It would log every request with its whole URL.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            settings = WebhookSettings.of(os.environ)
        except SettingsError as error:
            logger.error("%s; the events wait", error)
            return EXIT_MISCONFIGURED
        db = Database(self.database, read_timeout_seconds=10.0)
        Deliveries(db, settings).follow(self._keep_waiting, self._keep_taking)
        db.close()
        return 0

    def _keep_waiting(self) -> bool:
        if self._ending_since is None and select.select([self.link], [], [], 0)[0]:
            self._ending_since = time.monotonic()
        return self._ending_since is None

    def _keep_taking(self) -> bool:
        since = self._ending_since
        return since is None or time.monotonic() - since < LAST_TAKES_SECONDS


class CourierLink:
    """The launcher's end: starts a courier when there is something to deliver, and ends it."""

    def __init__(
        self, database: DatabaseSettings, output: int, fork: PatientFork | None = None
    ) -> None:
        self._database = database
        self._output = output
        self._fork = fork or PatientFork()
        self._socket: socket.socket | None = None
        self._deaths = 0
        self._start_at = 0.0
        self._stopped = StoppedClock()
        self.pid = 0

    def start_if_needed(self, has_due_events: bool) -> None:
        """Fork a courier if events are due and none runs; pause after a failure."""
        if self._stopped.seconds(self.pid) > MAX_STOPPED_SECONDS:
            os.kill(self.pid, signal.SIGKILL)
        if not has_due_events or self.pid or time.monotonic() < self._start_at:
            return
        ours, theirs = socket.socketpair()

        def main() -> int:
            ours.close()
            return Courier(self._database, theirs).main()

        pid = self._fork(main, self._output)
        theirs.close()
        if pid is None:
            ours.close()
            return
        self.pid, self._socket = pid, ours

    def died(self, code: int) -> None:
        """Note that the courier's process has ended; without settings there is no other."""
        self.pid = 0
        self._deaths += 1
        wait = backoff_seconds(self._deaths, 1.0, MAX_RESTART_SECONDS)
        self._start_at = float("inf") if code == EXIT_MISCONFIGURED else time.monotonic() + wait
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def stop(self, seconds: float) -> None:
        """Give the courier this long to deliver what is due; then end it."""
        if not self.pid or self._socket is None:
            return
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        deadline = time.monotonic() + seconds
        while not (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
            if time.monotonic() >= deadline:
                os.kill(self.pid, signal.SIGKILL)
                ended = os.waitpid(self.pid, 0)
                break
            time.sleep(0.02)
        self.died(os.waitstatus_to_exitcode(ended[1]))
