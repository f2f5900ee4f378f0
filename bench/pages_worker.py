"""The processes that load pages: one as a worker of Nightshift, one in a bare loop of Playwright.

Each has a driver and a browser of its own, so that either side's may be replaced.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from bench import pages_task
from worker.browser.launch import launch_settings
from worker.browser.options import BrowserOptions, find_browser
from worker.execution.stop_request import StopRequest
from worker.execution.worker_loop import WorkerLoop
from worker.settings import RunSettings
from worker.system.board import Board

IDLE_SECONDS = 0.002

Runner = Callable[[int, str], None]


def serve(pipe: Connection, runners: dict[str, Runner]) -> None:
    """Do rounds as they are told over a pipe, (runner, jobs, url), until it is closed."""
    while True:
        try:
            name, jobs, url = pipe.recv()
        except EOFError:
            return
        runners[name](jobs, url)
        pipe.send("done")


class PagesWorker:
    """A worker of Nightshift, which takes its jobs from the queue."""

    def __init__(self, settings: RunSettings, run_id: int, slot: int, board: Board) -> None:
        self._entry = board.entries[slot]
        self._loop = WorkerLoop(settings, run_id, slot, board, StopRequest())

    def serve(self, pipe: Connection) -> None:
        """Get the browser up with a first job, then do what is asked."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._nightshift(1, "")
        pipe.send("ready")
        runners: dict[str, Runner] = {
            "nightshift": self._nightshift,
            "nightshift without good pages": self._without_good_pages,
        }
        serve(pipe, runners)

    def _nightshift(self, jobs: int, _url: str) -> None:
        """Claim, do and settle that many jobs of the queue."""
        loop, target = self._loop, self._entry.done + jobs
        while self._entry.done < target:
            if self._entry.failed or self._entry.retried:
                raise RuntimeError("a job of the measurement failed; see its evidence")
            if loop.candidates.has_next():
                loop.work_on()
            else:
                time.sleep(IDLE_SECONDS)

    def _without_good_pages(self, jobs: int, url: str) -> None:
        """Do the same as with `--keep-good never`."""
        keeping = self._loop._executor._good_pages  # noqa: SLF001
        keeping._is_wanted = False  # noqa: SLF001
        self._nightshift(jobs, url)
        keeping._is_wanted = True  # noqa: SLF001


class RawWorker:
    """Bare Playwright; each browser is started when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._browsers: dict[bool, Browser] = {}
        self._page: Page | None = None

    def serve(self, pipe: Connection) -> None:
        """Start the driver, then do what is asked."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with sync_playwright() as driver:
            pipe.send("ready")
            runners: dict[str, Runner] = {
                "raw context": lambda jobs, url: self._contexts(driver, jobs, url),
                "raw context, our flags": lambda jobs, url: self._contexts(
                    driver, jobs, url, has_our_flags=True
                ),
                "raw page": lambda jobs, url: self._reused(driver, jobs, url),
            }
            serve(pipe, runners)

    def _contexts(
        self, driver: Playwright, jobs: int, url: str, *, has_our_flags: bool = False
    ) -> None:
        browser = self._browser(driver, has_our_flags=has_our_flags)
        for _ in range(jobs):
            context = browser.new_context()
            pages_task.load(context.new_page(), url)
            context.close()

    def _reused(self, driver: Playwright, jobs: int, url: str) -> None:
        if self._page is None:
            self._page = self._browser(driver, has_our_flags=False).new_context().new_page()
        for _ in range(jobs):
            pages_task.load(self._page, url)

    def _browser(self, driver: Playwright, *, has_our_flags: bool) -> Browser:
        if has_our_flags not in self._browsers:
            options = BrowserOptions(self._folder / str(os.getpid()), find_browser())
            options.tmp_dir.mkdir(parents=True, exist_ok=True)
            how = launch_settings(options) if has_our_flags else {
                "executable_path": options.executable, "chromium_sandbox": os.geteuid() != 0
            }  # fmt: skip
            self._browsers[has_our_flags] = driver.chromium.launch(**how)
        return self._browsers[has_our_flags]
