"""Having a good browser before a job that needs one is claimed: started, alive, replaced when worn.

A browser elsewhere is waited for while no endpoint gives one, and let go while there is no work.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from worker.browser.browser_choice import BrowserChoice
from worker.browser.session import BrowserSession
from worker.errors import BrowserAway, LaunchFailed
from worker.evidence.redaction import redact_text, redact_url
from worker.execution.stop_request import StopRequest
from worker.models import Candidate
from worker.recovery import leftovers
from worker.settings import RunSettings
from worker.system.board import Entry, Phase

# Reading the memory of a process tree costs milliseconds where a machine has many processes: not at
# every job, nor more often than growth could matter.
MEMORY_CHECK_JOBS = 10
MEMORY_CHECK_SECONDS = 5.0
# An endpoint may be back sooner than its rest says: another worker has found it well.
LONGEST_LOOK_SECONDS = 2.0
# A session elsewhere that nobody uses costs money, or a place that another could have.
IDLE_SECONDS = 30.0

logger = logging.getLogger("nightshift.worker")


def new_session(browser: BrowserChoice, settings: RunSettings, slot: int) -> BrowserSession:
    """Make the session of a worker, with no browser yet."""
    return BrowserSession(
        browser.options(
            settings.state_dir / "tmp" / leftovers.folder_name(slot),
            page_timeout_seconds=settings.page_timeout_seconds,
            state_dir=settings.state_dir,
            job_disk_mb=settings.job_disk_mb,
            slot=slot,
        )
    )


@dataclass(slots=True)
class BrowserUpkeep:
    """Keeps one worker's browser in shape, and shows its processes on the board."""

    settings: RunSettings
    session: BrowserSession
    entry: Entry
    # The tasks whose jobs get no page.
    without_browser: frozenset[str] = frozenset()
    _checked_jobs: int = 0
    _checked_at: float = float("-inf")
    _away_since: float | None = None
    _used_at: float = 0.0

    def __post_init__(self) -> None:
        self.session.on_launch = self._show_processes

    def make_ready(self, next_job: Candidate | None) -> None:
        """Start the browser, or replace one that is worn; raises LaunchFailed.

        Nothing is done for a job that gets no page. Should another one come first after all, it
        starts the browser itself.
        """
        if self._goes_without(next_job):
            return
        if not self.session.is_alive:
            # Without its browser a worker has not booted, however long it has waited for work.
            self.entry.phase = Phase.BOOTING
            self._checked_jobs = 0
            self.session.open()
        elif reason := self._why_recycle():
            logger.info("recycling the browser: %s", reason)
            self._checked_jobs = 0
            self.session.recycle()
        self._away_since, self._used_at = None, time.monotonic()

    def wait_for_browser(self, away: BrowserAway, stop: StopRequest) -> None:
        """Wait until it is worth looking again; raises LaunchFailed when that took too long."""
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
            logger.warning("%s; waiting for one", away)
        patience = self.settings.wait_retries_seconds
        if not self.settings.follow and now - self._away_since > patience:
            raise LaunchFailed(f"{away}; waited for {patience:g} s") from away
        stop.wait(min(away.after, LONGEST_LOOK_SECONDS))

    def idle(self) -> None:
        """Let a browser elsewhere go that has had nothing to do for a while."""
        if self.settings.elsewhere is None or time.monotonic() - self._used_at < IDLE_SECONDS:
            return
        if self.session.is_alive:
            logger.info("no work: letting the browser elsewhere go")
            self.session.rest()

    def is_due(self, next_job: Candidate | None) -> bool:
        """Whether to look at the browser, or to start one, before another job is claimed."""
        if not self._goes_without(next_job) and not self.session.is_alive:
            return True
        has_done_enough = self.session.jobs_since_launch >= self.settings.recycle_jobs
        return self._is_memory_unchecked or has_done_enough or self._is_for_one_job

    def _goes_without(self, next_job: Candidate | None) -> bool:
        return next_job is not None and next_job.task in self.without_browser

    @property
    def _is_memory_unchecked(self) -> bool:
        jobs = self.session.jobs_since_launch - self._checked_jobs
        is_long_ago = time.monotonic() - self._checked_at >= MEMORY_CHECK_SECONDS
        return jobs >= MEMORY_CHECK_JOBS and is_long_ago

    @property
    def _is_for_one_job(self) -> bool:
        elsewhere = self.settings.elsewhere
        return elsewhere is not None and elsewhere.has_default_context

    def _why_recycle(self) -> str | None:
        jobs = self.session.jobs_since_launch
        if jobs >= self.settings.recycle_jobs:
            return f"{jobs} jobs since its launch"
        if self.session.remote is not None and self.session.remote.is_home_back:
            return "its own endpoint is back"
        if self._is_memory_unchecked:
            self._checked_jobs, self._checked_at = jobs, time.monotonic()
            used = self.session.memory_mb()
            if used > self.settings.recycle_mb:
                return f"{used:.0f} MB of memory"
        return None

    def _show_processes(self) -> None:
        driver, browser = self.session.processes()
        self.entry.driver_pid = driver.pid if driver else 0
        self.entry.driver_started = driver.start_time if driver else 0
        self.entry.browser_pid = browser.pid if browser else 0
        self.entry.browser_started = browser.start_time if browser else 0
        # A profile's browser may be another one.
        has_profile = self.session.profile.hold is not None
        version = "" if has_profile else self.session.browser_version() or ""
        if self.settings.elsewhere is None:
            self.entry.show_browser(version)
            return
        facts = (self.session.remote and self.session.remote.facts) or {}
        session = f", session {facts['browser_session']}" if facts.get("browser_session") else ""
        self.entry.show_browser(
            version,
            redact_text(f"{facts['endpoint']}{session}") if facts else "",
            redact_url(facts.get("live_view") or ""),
        )
