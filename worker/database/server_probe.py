"""Try on two connections what the pool relies on, whatever stands in front of the server.

Sessions that keep their settings, a guarded UPDATE that only one of two wins, commits that others
see, locks by name, and one time. Each thing that does not hold is told with its remedy.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime

from worker.database.client import Database, Transaction
from worker.database.locks import Lock
from worker.database_settings import DatabaseSettings
from worker.errors import DatabaseUnavailable

LOCK_WAIT_SECONDS = 7
TIMEOUT_SECONDS = 30.0
STATEMENTS = 5
# How far two members' clocks may be apart: leases are counted in whole seconds.
MAX_CLOCK_SECONDS = 2.0
# How long one of two who claim the same row waits for the other to begin.
HEAD_START_SECONDS = 0.3


def problems(settings: DatabaseSettings) -> list[str]:
    """Try everything; return what does not hold. Raises DatabaseUnavailable."""
    with closing(_connect(settings)) as one, closing(_connect(settings)) as other:
        probe = _Probe(one, other, f"doctor:{secrets.token_hex(8)}")
        one.execute("probe_add", name=probe.name)
        try:
            return [
                *probe.sessions(),
                *probe.clocks(),
                *probe.claims(),
                *probe.scripts(),
                *probe.named_locks(),
            ]
        finally:
            one.execute("probe_remove", name=probe.name)


def _connect(settings: DatabaseSettings) -> Database:
    return Database(
        settings, read_timeout_seconds=TIMEOUT_SECONDS, lock_wait_seconds=LOCK_WAIT_SECONDS
    )


class _Probe:
    """Two connections, and a row that both may write."""

    def __init__(self, one: Database, other: Database, name: str) -> None:
        self.one, self.other, self.name = one, other, name

    def sessions(self) -> Iterator[str]:
        """A session stays one session, with the settings that it was given."""
        seen = [self.one.fetch_all("probe_session")[0] for _ in range(STATEMENTS)]
        if len({row["id"] for row in seen}) > 1:
            yield (
                "one connection reaches several sessions of the server; have the pooler keep a "
                "client on its session (ProxySQL: mysql-multiplexing=false)"
            )
        if {(row["time_zone"], row["lock_wait"]) for row in seen} != {
            ("+00:00", LOCK_WAIT_SECONDS)
        }:
            yield (
                "settings of a session do not last; have the pooler keep session variables, "
                "or connect to the server itself"
            )

    def clocks(self) -> Iterator[str]:
        """Both members have the same time, as far as that matters to leases."""
        before: datetime = self.one.fetch_all("probe_session")[0]["now"]
        between: datetime = self.other.fetch_all("probe_session")[0]["now"]
        after: datetime = self.one.fetch_all("probe_session")[0]["now"]
        apart = max((before - between).total_seconds(), (between - after).total_seconds())
        if apart > MAX_CLOCK_SECONDS:
            yield (
                f"the clocks of two members are {apart:.1f} s apart, and leases go by them; "
                f"set them by NTP"
            )

    def claims(self) -> Iterator[str]:
        """Of two who claim the same row, one wins, and the other sees that."""
        won: list[int] = []
        has_begun = threading.Event()

        def slowly(tx: Transaction) -> int:
            changed = tx.execute("probe_claim", name=self.name, by="one")
            has_begun.set()
            # The other one claims meanwhile: it waits for us, or one of us is undone.
            self._is_other_done.wait(HEAD_START_SECONDS)
            return changed

        self._is_other_done = threading.Event()
        thread = threading.Thread(target=self._claim_beside, args=(has_begun, won), daemon=True)
        thread.start()
        won.append(self.one.transaction(slowly))
        thread.join(TIMEOUT_SECONDS)
        if len(won) < 2 or sum(won) != 1:
            yield (
                "two connections could claim the same row, or neither: this server does not "
                "guard rows as the queue needs it; use another"
            )
            return
        self.other.catch_up()
        if self.other.fetch_all("probe_read", name=self.name)[0]["token"] == "":
            yield (
                "what one connection has committed another does not see: reads are sent to a "
                "server that lags; have the proxy send all statements to the primary"
            )

    def _claim_beside(self, has_begun: threading.Event, won: list[int]) -> None:
        has_begun.wait(TIMEOUT_SECONDS)
        try:
            won.append(self.other.execute("probe_claim", name=self.name, by="other"))
        except DatabaseUnavailable:
            pass
        finally:
            self._is_other_done.set()

    def scripts(self) -> Iterator[str]:
        """Several statements can be sent at once, and each is answered."""
        if self.one.run_script("probe_script", name=self.name)[:2] != [1, 1]:
            yield (
                "several statements in one are not answered one by one; have the proxy let "
                "multi-statements through"
            )

    def named_locks(self) -> Iterator[str]:
        """A lock that one has is not given to another, and is given up."""
        first, second = Lock("doctor", self.name), Lock("doctor", self.name)
        if not first.take(self.one) or second.take(self.other):
            yield "locks by name exclude nobody; have the pooler keep a client on its session"
        first.release(self.one)
        second.release(self.other)
