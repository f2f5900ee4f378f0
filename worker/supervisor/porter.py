"""The porter: a child of the launcher that copies evidence to the shared place, after settlement.

There is none until evidence waits. It ends with the run, after a moment for what waits then; what
is not copied by then waits for the next run on this host.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
from dataclasses import dataclass
from pathlib import Path

from worker import log
from worker.backoff import backoff_seconds
from worker.errors import EvidenceUnavailable, SettingsError
from worker.evidence import known_secrets, shared_place, to_copy
from worker.evidence.shared_place import EvidenceGone, SharedPlace
from worker.supervisor.child_link import EXIT_MISCONFIGURED
from worker.system.identity import this_host
from worker.system.private_environment import secrets_of

LOOK_SECONDS = 1.0
MAX_REST_SECONDS = 60.0
# At the end of a run, for what its last jobs have left.
LAST_COPIES_SECONDS = 10.0

logger = logging.getLogger("nightshift.porter")


@dataclass(slots=True)
class Porter:
    """One porter's life; `main` is what the forked child runs."""

    state_dir: Path
    link: socket.socket
    _failures: int = 0

    def main(self) -> int:
        """Copy until the launcher closes the link, and then once more what waits."""
        log.configure("porter")
        for chatty in ("botocore", "aiobotocore", "s3fs", "fsspec", "urllib3", "asyncio"):
            logging.getLogger(chatty).setLevel(logging.CRITICAL)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        known_secrets.keep([os.environ.get(shared_place.VARIABLE, ""), *secrets_of(os.environ)])
        try:
            place = shared_place.place_of(os.environ)
        except SettingsError as error:
            logger.error("%s; evidence stays on this host", error)
            return EXIT_MISCONFIGURED
        if place is None:
            return EXIT_MISCONFIGURED
        is_ending = False
        while True:
            self._copy_all(place)
            if is_ending:
                return 0
            # What came while it copied is copied before it ends.
            is_ending = bool(select.select([self.link], [], [], self._rest_seconds)[0])

    @property
    def _rest_seconds(self) -> float:
        if not self._failures:
            return LOOK_SECONDS
        return backoff_seconds(self._failures, LOOK_SECONDS, MAX_REST_SECONDS)

    def _copy_all(self, place: SharedPlace) -> None:
        """Copy what waits, the oldest first, up to the first trouble."""
        for item in to_copy.waiting(self.state_dir):
            try:
                place.put(item.folder, item.evidence, this_host().name)
            except EvidenceGone:
                # It was pruned before it could be copied.
                pass
            except EvidenceUnavailable as error:
                self._note_trouble(error)
                return
            item.forget()
            if self._failures:
                logger.warning("the shared place for evidence can be written again")
            self._failures = 0

    def _note_trouble(self, error: EvidenceUnavailable) -> None:
        self._failures += 1
        if self._failures == 1:
            logger.warning("%s; it is tried again, and the next run tries too", error)
