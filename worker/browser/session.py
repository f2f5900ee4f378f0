"""One worker's browser: launched after the fork, kept alive, handed out page by page.

Every call into Playwright that might hang is under the watchdog; a browser or driver found
dead is replaced. After `close` no process and no temporary file of it is left.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright
from playwright.sync_api import Error as PlaywrightError

from worker.browser import process_tree
from worker.browser.launch import first_line, launch_chromium, start_driver
from worker.browser.options import BrowserOptions
from worker.browser.process_tree import ProcessId
from worker.browser.recorder import Recorder
from worker.browser.tab import Tab
from worker.browser.watchdog import Limit, Watchdog
from worker.errors import LaunchFailed

PAGE_SECONDS = 20.0
CLOSE_SECONDS = 5.0
DEATH_SECONDS = 3.0


class BrowserSession:
    """The driver, the browser and the tab of one worker process; for one job at a time."""

    def __init__(self, options: BrowserOptions, watchdog: Watchdog | None = None) -> None:
        self.options = options
        self.watchdog = watchdog or Watchdog()
        self.recorder = Recorder()
        self.jobs_since_launch = 0
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._shared: Tab | None = None
        self._current: Tab | None = None
        self._driver_id: ProcessId | None = None
        self._browser_id: ProcessId | None = None

    def open(self) -> None:
        """Start driver and browser in an emptied temporary folder; raises LaunchFailed."""
        self._wipe()
        self._launch()

    def page_for_job(self, *, isolated: bool = False, trace: bool = False) -> Page:
        """Give the page for one job, launching the browser again if it is dead.

        `isolated` gives a context of the job's own. Raises LaunchFailed if there is no browser
        to be had.
        """
        if self._current is not None:
            self.release(clean=False)
        problem: PlaywrightError | None = None
        for _ in range(2):
            if not self.is_alive:
                self._launch()
            try:
                page = self._ready_page(isolated=isolated, trace=trace)
            except PlaywrightError as error:
                problem = error
                self._drop_browser()
            else:
                self.jobs_since_launch += 1
                return page
        raise LaunchFailed(
            f"the browser starts but opens no page ({first_line(problem or '')}): "
            "look at the machine's memory and /dev/shm"
        )

    def release(self, *, clean: bool) -> None:
        """Take the page back after a job; never raises.

        After a failure (`clean` false) and after an isolated job its context is thrown away.
        """
        tab, self._current = self._current, None
        if tab is None:
            return
        is_good = clean and tab is self._shared and self._within(CLOSE_SECONDS, tab.tidy)
        self.recorder.focus(None, None)
        # A job that never gets a page must not leave evidence of this one's.
        self.recorder.reset()
        if not is_good:
            if tab is self._shared:
                self._shared = None
            self._close_tab(tab)

    def recycle(self) -> None:
        """Replace driver and browser by new ones, because both grow with every page."""
        self._stop(CLOSE_SECONDS)
        self.open()

    def close(self, budget_seconds: float = 10.0) -> None:
        """End everything within about the budget, politely first; never raises."""
        self._stop(budget_seconds)
        shutil.rmtree(self.options.tmp_dir, ignore_errors=True)

    @property
    def page(self) -> Page | None:
        """The page of the job that is running."""
        return self._current.page if self._current is not None else None

    @property
    def is_tracing(self) -> bool:
        return self._current is not None and self._current.is_tracing

    def stop_trace(self, path: Path | None) -> None:
        """End the running job's trace and keep it as `path` (None: drop it)."""
        if self._current is not None:
            self._current.stop_trace(path)

    @property
    def is_alive(self) -> bool:
        """Whether driver and browser run; asks the kernel, since events may come late."""
        return (
            self._browser is not None
            and self._browser.is_connected()
            and self._driver_id is not None
            and process_tree.is_alive(self._driver_id)
            and self._browser_id is not None
            and process_tree.is_alive(self._browser_id)
        )

    def processes(self) -> tuple[ProcessId | None, ProcessId | None]:
        """The driver, and the leader of Chromium's process group."""
        return self._driver_id, self._browser_id

    def memory_mb(self) -> float:
        """The memory that driver and browser hold for themselves alone, in MiB."""
        if self._driver_id is None:
            return 0.0
        pids = [stat.pid for stat in process_tree.descendants(self._driver_id.pid)]
        return process_tree.memory_mb([self._driver_id.pid, *pids])

    def limit(self, seconds: float) -> Limit:
        """Bound a block that uses the browser: past the limit Chromium is killed.

        The blocked call then raises, or returns something empty: look at `fired` afterwards. If
        the block is not left within three more seconds, the driver is killed as well.
        """
        return self.watchdog.limit(seconds, self.kill, self.kill_driver)

    def kill(self) -> None:
        """Kill Chromium's process group; may be called from any thread."""
        driver, browser = self._driver_id, self._browser_id
        leaders = [] if browser is None else [browser]
        if driver is not None:
            # During a launch the leader is not known yet, but it is the driver's child already.
            leaders += process_tree.find_browsers(driver)
        for leader in leaders:
            process_tree.kill_group(leader)

    def kill_driver(self) -> None:
        """Kill the browser and the driver; may be called from any thread."""
        self.kill()
        driver = self._driver_id or process_tree.find_driver(os.getpid())
        if driver is not None:
            process_tree.kill(driver)

    def _ready_page(self, *, isolated: bool, trace: bool) -> Page:
        assert self._browser is not None
        with self.limit(PAGE_SECONDS):
            if isolated:
                tab = self._current = Tab(self._browser, self.recorder)
            else:
                tab = self._current = self._shared = self._shared or Tab(
                    self._browser, self.recorder
                )
            return tab.prepare(self.options.page_timeout_seconds, trace=trace)

    def _launch(self) -> None:
        self._drop_browser()
        if self._driver_id is not None and process_tree.is_alive(self._driver_id):
            try:
                return self._launch_browser()
            except LaunchFailed:
                # A driver that was stopped or starved may be the cause; a new one decides.
                pass
        self._drop_driver()
        self._make_folders()
        with self.limit(self.options.launch_timeout_seconds):
            self._playwright = start_driver(self.options)
        self._driver_id = process_tree.find_driver(os.getpid())
        try:
            self._launch_browser()
        except LaunchFailed:
            self._drop_driver()
            raise

    def _launch_browser(self) -> None:
        assert self._playwright is not None
        # Playwright's own timeout explains more than a killed browser does: it goes first.
        try:
            with self.limit(self.options.launch_timeout_seconds + CLOSE_SECONDS):
                self._browser = launch_chromium(self._playwright, self.options)
        except LaunchFailed:
            # A browser that came too late may live on, and only its driver leads us to it.
            self.kill()
            raise
        self._browser.on("disconnected", self.recorder.mark_disconnected)
        found = process_tree.find_browsers(self._driver_id) if self._driver_id else []
        self._browser_id = found[-1] if found else None
        self.jobs_since_launch = 0

    def _close_tab(self, tab: Tab) -> None:
        self._within(CLOSE_SECONDS, lambda: tab.stop_trace(None))
        self._within(CLOSE_SECONDS, tab.page.close)
        self._within(CLOSE_SECONDS, tab.context.close)
        self._empty_folder("traces")
        self._empty_folder("downloads")

    def _drop_browser(self) -> None:
        """Forget the browser and whatever is left of it, without asking it anything."""
        self._current = self._shared = self._browser = None
        self.kill()
        if self._browser_id is not None:
            process_tree.wait_dead(process_tree.group_members(self._browser_id), DEATH_SECONDS)
        self._browser_id = None

    def _drop_driver(self) -> None:
        self.kill()
        if self._driver_id is not None:
            process_tree.kill(self._driver_id)
            process_tree.wait_dead([self._driver_id], DEATH_SECONDS)
        if self._playwright is not None:
            self._within(CLOSE_SECONDS, self._playwright.stop)
        self._playwright = self._driver_id = None

    def _stop(self, budget_seconds: float) -> None:
        deadline = time.monotonic() + budget_seconds

        def left() -> float:
            return max(0.1, min(CLOSE_SECONDS, deadline - time.monotonic()))

        if self.is_alive:
            for tab in (self._current, self._shared):
                if tab is not None:
                    self._within(left(), tab.page.close, self.kill_driver)
                    self._within(left(), tab.context.close, self.kill_driver)
            if self._browser is not None:
                self._within(left(), self._browser.close, self.kill_driver)
        if self._playwright is not None:
            self._within(left(), self._playwright.stop, self.kill_driver)
        self._drop_browser()
        self._drop_driver()

    def _within(
        self, seconds: float, step: Callable[[], object], on_fire: Callable[[], None] | None = None
    ) -> bool:
        """Do one step of cleaning up; tell whether it went well (and did not say False)."""
        with self.watchdog.limit(seconds, on_fire or self.kill, self.kill_driver) as limit:
            try:
                result = step()
            except (PlaywrightError, OSError):
                return False
        return result is not False and not limit.fired

    def _wipe(self) -> None:
        shutil.rmtree(self.options.tmp_dir, ignore_errors=True)
        self._make_folders()

    def _make_folders(self) -> None:
        try:
            for name in ("traces", "downloads"):
                (self.options.tmp_dir / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LaunchFailed(
                f"cannot write to {self.options.tmp_dir} ({error.strerror}): "
                "make it writable, or free some space"
            ) from error

    def _empty_folder(self, name: str) -> None:
        for path in (self.options.tmp_dir / name).glob("*"):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
