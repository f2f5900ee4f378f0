"""Which proxy a worker's ordinary pages go through, and which next, after a block or a failure.

Where proxies are configured, no page is loaded without one: a job that none can serve is handed
back. Where there are none, a block costs the browser's context. Profiles have proxies of their own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from worker.browser.failures import Diagnosis
from worker.browser.session import BrowserSession
from worker.database.best_effort import best_effort
from worker.database.client import Database
from worker.errors import DatabaseUnavailable, ProxyUnavailable
from worker.execution.verdict import TUNNEL_FAULT, is_login_fault, proxy_fault
from worker.guards.keys import PROXIES, ClosedKey
from worker.models import Claim
from worker.profiles import doors
from worker.proxies import blocks
from worker.proxies import choice as proxies
from worker.proxies.choice import COOLDOWN_SECONDS, REFUSES_LOGIN, Choice
from worker.proxies.proxy import Proxy
from worker.proxies.trial import LOGIN_REFUSED, refuses_login

LOOK_SECONDS = 5.0
# How long a success or failure of a proxy or site is remembered: enough to see a series.
MEMORY_SECONDS = 600.0
# A worker that holds a job must not wait for the database longer than its lease allows.
PATIENCE_SECONDS = 5.0

_NONE = Choice(None)

logger = logging.getLogger("nightshift.worker")


class ProxyUse:
    """One worker's proxies, in turn."""

    def __init__(
        self, db: Database, session: BrowserSession, cooldown_seconds: float = COOLDOWN_SECONDS
    ) -> None:
        self._db = db
        self._session = session
        self._cooldown_seconds = cooldown_seconds
        self._looked_at = float("-inf")
        self._usual = _NONE
        # Where the usual proxy was blocked.
        self._cooling_sites: frozenset[str] = frozenset()
        # Of the job that runs now: an account's own proxy, or the usual one.
        self._serving = _NONE
        self._proven: dict[int, float] = {}
        self._tunnels_failed: dict[str, tuple[int, float]] = {}

    @property
    def is_due(self) -> bool:
        """Whether it is time to look at the proxies again before another job is claimed."""
        return time.monotonic() - self._looked_at >= LOOK_SECONDS

    def look(self) -> ClosedKey | None:
        """Have a proxy for the next jobs, if there are any; tell when all are out of use."""
        if self.is_due:
            usual = _NONE
            if (proxy := self._usual.proxy) is not None and proxy.id is not None:
                usual = proxies.still_usable(self._db, proxy.id)
            self._take(usual if usual.proxy is not None else proxies.look(self._db))
        if self._usual.reason:
            # Whoever waits for a proxy wants to see the first one that is back.
            self._looked_at = float("-inf")
            return ClosedKey(PROXIES, self._usual.reason, self._usual.seconds)
        return None

    @property
    def name(self) -> str | None:
        """The proxy that the running job's pages go through, by name; None without one."""
        return self._serving.proxy.name if self._serving.proxy is not None else None

    def begin(self) -> None:
        """Begin another job, which has no proxy yet."""
        self._serving = _NONE

    def serve(self, claim: Claim) -> None:
        """Let a job's page go through its proxy; raises ProxyUnavailable rather than go without."""
        self.begin()
        if claim.lease_fence is not None:
            return
        choice, site = self._usual, claim.site or ""
        if claim.profile_id or (claim.account_id and choice != _NONE):
            choice = self._own_choice(claim, site)
        elif site in self._cooling_sites:
            choice = self._choice_for(site)
        if choice.proxy is None and choice.reason:
            raise ProxyUnavailable(choice.reason, after=choice.seconds)
        self._serving = choice
        self._session.use_proxy(choice.proxy)

    def serve_profile(self, proxy: Proxy | None) -> None:
        """Note that a job's pages go through its profile's own proxy, if that has one."""
        self._serving = Choice(proxy)

    def fault(self, diagnosis: Diagnosis, site: str | None) -> str | None:
        """Say so when it was the proxy that failed, not the site behind it nor the job."""
        proxy = self._serving.proxy
        if proxy is None or proxy.id is None:
            return None
        if refusal := self.refusal():
            return refusal
        code = proxy_fault(diagnosis)
        if code is None or (code == TUNNEL_FAULT and self._is_fault_of_site(proxy.id, site or "")):
            return None
        if is_login_fault(code):
            return f"{_unusable(proxy)}: {REFUSES_LOGIN} (net::{code})"
        return f"{_unusable(proxy)}: net::{code}"

    def refusal(self) -> str | None:
        """Say so when the running job's page is the proxy's refusal of its login."""
        proxy = self._serving.proxy
        if proxy is None or proxy.id is None or not self._is_login_refused(proxy):
            return None
        return f"{_unusable(proxy)}: {REFUSES_LOGIN} (HTTP {LOGIN_REFUSED})"

    def succeeded(self) -> None:
        """Note that the running job's proxy works; free unless it had failed before."""
        proxy = self._serving.proxy
        if proxy is None or proxy.id is None:
            return
        self._proven[proxy.id] = time.monotonic()
        if self._serving.failures:
            proxy_id = proxy.id
            with best_effort(self._db, "a proxy's success was not written"):
                proxies.note_success(self._db, proxy_id)
            self._looked_at = float("-inf")

    def drop(self, reason: str) -> None:
        """Leave the running job's proxy alone, which cannot be used, and take the next."""
        self._part_from(
            lambda proxy_id: proxies.note_unreachable(self._db, proxy_id, reason), reason
        )

    def turn(self, reason: str, retry_after: float | None, site: str | None) -> bool:
        """After a block: the next proxy for that site, or without proxies a fresh context.

        Returns whether there was a proxy, which is left alone for that site now.
        """
        return self._part_from(
            lambda proxy_id: proxies.note_block(
                self._db, proxy_id, self._cooldown_seconds, retry_after, reason, site or ""
            ),
            reason,
            f" {blocks.where(site or '')}",
        )

    def _part_from(self, note: Callable[[int], None], reason: str, where: str = "") -> bool:
        proxy, self._serving = self._serving.proxy, _NONE
        self._session.renew_context()
        if proxy is None or proxy.id is None:
            return False
        proxy_id = proxy.id
        logger.warning(
            "proxy %s (%s) is left alone a while%s: %s", proxy.name, proxy, where, reason
        )
        with best_effort(self._db, "a proxy's failure was not written"):
            note(proxy_id)
        self._proven.pop(proxy_id, None)
        self._looked_at = float("-inf")
        return True

    def _own_choice(self, claim: Claim, site: str) -> Choice:
        """Find the door of an account's job that is done in the ordinary browser."""
        with self._briefly():
            return doors.of_job(self._db, claim.profile_id, claim.account_id, site)

    def _choice_for(self, site: str) -> Choice:
        """Find the next proxy that may be used for a site, and keep to it."""
        with self._briefly():
            choice = proxies.look(self._db, site=site)
            if choice.proxy is not None:
                self._take(choice)
            return choice

    @contextmanager
    def _briefly(self) -> Iterator[None]:
        try:
            with self._db.patience(PATIENCE_SECONDS):
                yield
        except DatabaseUnavailable as error:
            raise ProxyUnavailable(f"the proxy cannot be looked up: {error}") from error

    def _take(self, usual: Choice) -> None:
        if usual.proxy != self._usual.proxy and usual.proxy is not None:
            logger.info("pages go through proxy %s (%s) now", usual.proxy.name, usual.proxy)
        elif usual == _NONE != self._usual:
            logger.warning("there are no proxies any more: pages go out directly")
        self._usual = usual
        hosts = proxies.hosts(self._db) if usual != _NONE else frozenset()
        self._session.way_out.expect(hosts)
        self._cooling_sites = frozenset()
        if usual.proxy is not None:
            rows = blocks.cooling(self._db, usual.proxy.id)
            self._cooling_sites = frozenset(row["site"] for row in rows)
        self._looked_at = time.monotonic()

    def _is_login_refused(self, proxy: Proxy) -> bool:
        """Judge a page that is a 407, which any site can answer too: the proxy itself is asked."""
        answer = self._session.recorder.main_response
        return answer is not None and answer.status == LOGIN_REFUSED and refuses_login(proxy)

    def _is_fault_of_site(self, proxy_id: int, site: str) -> bool:
        """Judge a tunnel that was refused: by proxies that cannot reach a site, and by bad ones.

        A proxy that has just worked is not to blame, nor is one for a site that another proxy
        could not reach either: otherwise one dead site would cost the pool all its proxies.
        """
        now = time.monotonic()
        if now - self._proven.get(proxy_id, float("-inf")) < MEMORY_SECONDS:
            return True
        other, failed_at = self._tunnels_failed.get(site, (proxy_id, now))
        if other != proxy_id and now - failed_at < MEMORY_SECONDS:
            return True
        self._tunnels_failed[site] = (proxy_id, now)
        return False


def _unusable(proxy: Proxy) -> str:
    return f"proxy {proxy.name} ({proxy.label}) cannot be used"
