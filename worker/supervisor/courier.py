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
from dataclasses import dataclass

from worker import log
from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError
from worker.supervisor.child_link import EXIT_MISCONFIGURED

# At the end of a run: how long it takes further events, and how long the last may take.
LAST_TAKES_SECONDS = 2.0
LAST_DELIVERY_SECONDS = 4.0

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
