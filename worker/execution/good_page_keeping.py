"""Which jobs' pages are kept as good ones, and how often: to have something to compare with later.

Called when a job is done and settled, before its page goes. It costs at most a hundredth of the
worker's time, however many sites there are, and most jobs a look into memory. It never raises.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

from worker.browser import good_page
from worker.browser.session import BrowserSession
from worker.evidence.good_pages import INTERVAL_SECONDS, GoodPages
from worker.execution.time_share import TimeShare
from worker.models import Claim
from worker.settings import RunSettings
from worker.system.identity import this_host

SHARE = 0.01
# What a browser costs that hung over its page and was killed: the next job waits for another.
RESTART_SECONDS = 2.0
# Sites that are remembered not to be due; past that all are looked up anew.
MAX_REMEMBERED = 10_000

logger = logging.getLogger("nightshift.worker")


class GoodPageKeeping:
    """Keeps good pages for one worker, and finds them again."""

    def __init__(self, settings: RunSettings, session: BrowserSession, run_id: int) -> None:
        self.time = TimeShare(SHARE)
        self._is_wanted = settings.keep_good != "never"
        self._pages = GoodPages(settings.errors_dir, settings.database.key)
        self._session = session
        self._run_id = run_id
        self._not_before: dict[tuple[str, str], float] = {}

    def keep(self, claim: Claim) -> None:
        """Keep the page of a job that is done, if it is time for one of its task and site."""
        if not self._is_wanted or self._session.page is None:
            return
        if not self.time.is_left or not is_public(claim):
            return
        key = key_of(claim)
        if time.monotonic() < self._not_before.get(key, 0.0):
            return
        if not good_page.is_worth_taking(self._session):
            return
        with self.time.spending():
            try:
                fresh = self._pages.fresh_seconds(*key) or self._take(claim, key)
            except OSError as problem:
                logger.debug("the good page of job %s is not kept: %s", claim.job_id, problem)
                fresh = INTERVAL_SECONDS
        self._remember(key, fresh)

    def put_into(self, evidence: Path, claim: Claim) -> dict[str, Any] | None:
        """Put the last good page of a failed job's task and site into its evidence, if any.

        Tells what is known of that page.
        """
        # A job that never had a page has nothing to compare.
        if not is_public(claim) or self._session.page is None:
            return None
        try:
            return self._pages.put_into(evidence, *key_of(claim))
        except OSError as problem:
            logger.debug("job %s has no good page beside it: %s", claim.job_id, problem)
            return None

    def _take(self, claim: Claim, key: tuple[str, str]) -> float:
        """Take and keep the page; say for how long there need be no other."""
        with self._pages.taking() as is_ours:
            if not is_ours:
                return 0.0
            if fresh := self._pages.fresh_seconds(*key):
                return fresh
            taken = good_page.take(self._session)
            if not self._session.is_alive:
                self.time.spent_seconds += RESTART_SECONDS
            if taken is not None:
                facts = {
                    "job_id": claim.job_id,
                    "attempt": claim.attempt,
                    "run_id": self._run_id,
                    "at": taken.at,
                    "url": taken.url,
                    "status": taken.status,
                    "host": this_host().name,
                }
                self._pages.put(*key, facts, taken.picture, taken.html)
        return INTERVAL_SECONDS

    def _remember(self, key: tuple[str, str], seconds: float) -> None:
        if len(self._not_before) >= MAX_REMEMBERED:
            self._not_before.clear()
        self._not_before[key] = time.monotonic() + seconds


def key_of(claim: Claim) -> tuple[str, str]:
    """Name what a good page is kept for: a task, and a site unless its jobs name none."""
    return claim.task, claim.site or ""


def is_public(claim: Claim) -> bool:
    """Tell whether a job is nobody's in particular: what an account sees is private."""
    route = claim.route
    return (
        claim.account_id is None
        and claim.profile_id is None
        and route.account is None
        and route.profile is None
    )
