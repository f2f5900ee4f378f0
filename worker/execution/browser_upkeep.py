"""Having a good browser before a job is claimed: started, alive, and replaced when it is worn."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from worker.browser.session import BrowserSession
from worker.settings import RunSettings
from worker.system.board import Entry

# Reading the memory of a process tree costs about a millisecond: not at every job.
MEMORY_CHECK_JOBS = 10

logger = logging.getLogger("nightshift.worker")


@dataclass(slots=True)
class BrowserUpkeep:
    """Keeps one worker's browser in shape, and shows its processes on the board."""

    settings: RunSettings
    session: BrowserSession
    entry: Entry
    _memory_checked_at: int = 0

    def __post_init__(self) -> None:
        self.session.on_launch = self._show_processes

    def make_ready(self) -> None:
        """Start the browser, or replace one that is worn; raises LaunchFailed."""
        if not self.session.is_alive:
            self._memory_checked_at = 0
            self.session.open()
        elif reason := self._why_recycle():
            logger.info("recycling the browser: %s", reason)
            self._memory_checked_at = 0
            self.session.recycle()

    @property
    def is_due(self) -> bool:
        """Whether to look at the browser again before another job is claimed."""
        jobs = self.session.jobs_since_launch
        is_unchecked = jobs - self._memory_checked_at >= MEMORY_CHECK_JOBS
        return is_unchecked or jobs >= self.settings.recycle_jobs

    def _why_recycle(self) -> str | None:
        jobs = self.session.jobs_since_launch
        if jobs >= self.settings.recycle_jobs:
            return f"{jobs} jobs since its launch"
        if jobs - self._memory_checked_at >= MEMORY_CHECK_JOBS:
            self._memory_checked_at = jobs
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
