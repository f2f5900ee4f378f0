"""One process that loads pages for either side: as a worker of Nightshift, or in a bare loop.

Both sides have a browser each, of the same driver; the bare one has Playwright's own flags.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from playwright.sync_api import Browser

from bench import pages_task
from worker.browser.options import find_browser
from worker.execution.stop_request import StopRequest
from worker.execution.worker_loop import WorkerLoop
from worker.settings import RunSettings
from worker.system.board import Board

IDLE_SECONDS = 0.002


class PagesWorker:
    """Does rounds of jobs, as it is told over a pipe: (side, jobs, url)."""

    def __init__(self, settings: RunSettings, run_id: int, slot: int) -> None:
        self._board = Board(settings.workers)
        self._entry = self._board.entries[slot]
        self._loop = WorkerLoop(settings, run_id, slot, self._board, StopRequest())
        self._sides: dict[str, Callable[[int, str], None]] = {}

    def serve(self, pipe: Connection) -> None:
        """Get both browsers up, then do what is asked until the pipe is closed."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._nightshift(1, "")
        browser = self._launch_raw()
        page = browser.new_context().new_page()

        def raw_context(jobs: int, url: str) -> None:
            for _ in range(jobs):
                context = browser.new_context()
                pages_task.load(context.new_page(), url)
                context.close()

        def raw_page(jobs: int, url: str) -> None:
            for _ in range(jobs):
                pages_task.load(page, url)

        self._sides = {
            "raw context": raw_context,
            "raw page": raw_page,
            "nightshift": self._nightshift,
            "nightshift without good pages": self._without_good_pages,
        }
        pipe.send("ready")
        while True:
            try:
                side, jobs, url = pipe.recv()
            except EOFError:
                return
            self._sides[side](jobs, url)
            pipe.send("done")

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

    def _launch_raw(self) -> Browser:
        return pages_task.browser_types[-1].launch(
            executable_path=find_browser(), chromium_sandbox=os.geteuid() != 0
        )
