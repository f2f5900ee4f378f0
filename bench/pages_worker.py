"""One process that loads pages for either side: as a worker of Nightshift, or in a bare loop.

Both sides have a browser each, of the same driver and with the same flags.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from playwright.sync_api import Browser

from bench import pages_task
from bench.server import Bench
from worker.browser.launch import launch_settings
from worker.browser.options import BrowserOptions, find_browser
from worker.execution.stop_request import StopRequest
from worker.execution.worker_loop import WorkerLoop
from worker.settings import RunSettings
from worker.system.board import Board

IDLE_SECONDS = 0.002


class PagesWorker:
    """Does rounds of jobs, as it is told over a pipe: (side, jobs, url)."""

    def __init__(self, bench: Bench, settings: RunSettings, run_id: int, slot: int) -> None:
        self._folder: Path = bench.folder / f"raw-{slot}"
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
            if not loop.candidates.has_next():
                time.sleep(IDLE_SECONDS)
                continue
            loop.look_at_proxies()
            found = loop.gate.claim(loop.owner, loop.candidates)
            while found is not None:
                found = loop.do(found)

    def _launch_raw(self) -> Browser:
        options = BrowserOptions(tmp_dir=self._folder, executable=find_browser())
        for name in ("traces", "downloads"):
            (self._folder / name).mkdir(parents=True)
        return pages_task.browser_types[-1].launch(**launch_settings(options))
