"""A worker's driver and its ordinary browser as processes: started, found, replaced, ended.

Knows nothing of pages. Every start is made under the limit that its user gives; what is killed
may be killed from any thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Browser, BrowserContext, Playwright
from playwright.sync_api import Error as PlaywrightError

from worker.browser.face import ordinary_options
from worker.browser.launch import launch_browser, start_driver
from worker.browser.options import BrowserOptions
from worker.browser.scratch_folder import ScratchFolder
from worker.browser.side_calls import SideCalls
from worker.browser.watchdog import Limit
from worker.browser.way_out import WayOut
from worker.errors import LaunchFailed
from worker.system import process_tree
from worker.system.process_tree import ProcessId

if TYPE_CHECKING:
    from worker.browser.elsewhere.browsers import Browsers

CLOSE_SECONDS = 5.0
DEATH_SECONDS = 3.0


class Engine:
    """One driver and one browser at a time, each under its process id."""

    # Where the browser comes from, if it runs elsewhere.
    remote: Browsers | None = None

    def __init__(self, options: BrowserOptions, limit: Callable[[float], Limit]) -> None:
        self.folder = ScratchFolder(options.tmp_dir)
        self.playwright: Playwright | None = None
        self.browser: Browser | None = None
        self.side_calls: SideCalls | None = None
        self.driver_id: ProcessId | None = None
        self.browser_id: ProcessId | None = None
        self.way_out = WayOut()
        self._options = options
        self._limit = limit

    @property
    def has_own_clipboard(self) -> bool:
        """Whether the browser's clipboard is its own, and not that of a person's desktop."""
        return self._options.headless and self.is_chromium

    @property
    def is_chromium(self) -> bool:
        """Whether the browser speaks Chromium's own protocol, beside Playwright's."""
        return self._options.is_chromium

    @property
    def context_defaults(self) -> dict[str, Any]:
        """What every context of the browser is made with, unless its maker says otherwise."""
        assert self.browser is not None
        defaults = ordinary_options(self._options, self.browser.version)
        if not self._options.scripts:
            defaults["java_script_enabled"] = False
        return defaults

    def browser_version(self) -> str | None:
        """Which version the ordinary browser has; asks it nothing."""
        return self.browser.version if self.browser is not None else None

    @property
    def is_driver_alive(self) -> bool:
        return self.driver_id is not None and process_tree.is_alive(self.driver_id)

    @property
    def is_browser_alive(self) -> bool:
        """Whether driver and browser run; asks the kernel, since events may come late."""
        return (
            self.browser is not None
            and self.browser.is_connected()
            and self.is_driver_alive
            and self.browser_id is not None
            and process_tree.is_alive(self.browser_id)
        )

    @property
    def sole_context(self) -> BrowserContext | None:
        """The one context that all jobs have to work in; None where each can have its own."""
        return None

    def launch(self, on_disconnect: Callable[..., None], seconds: float | None = None) -> None:
        """Replace the browser, and the driver if it is dead or of no use; raises LaunchFailed.

        `seconds` bound the search for a browser elsewhere.
        """
        self.drop_browser()
        if self.is_driver_alive:
            try:
                return self._launch_browser(on_disconnect)
            except LaunchFailed:
                # A driver that was stopped or starved may be the cause; a new one decides.
                pass
        self.restart_driver()
        try:
            self._launch_browser(on_disconnect)
        except LaunchFailed:
            self.drop_driver()
            raise

    def restart_driver(self) -> None:
        """Start a new driver, without a browser; raises LaunchFailed."""
        self.drop_browser()
        self.drop_driver()
        self.folder.make()
        with self._limit(self._options.launch_timeout_seconds):
            self.playwright = start_driver(self._options)
        self.side_calls = SideCalls()
        self.driver_id = process_tree.find_driver(os.getpid())

    def drop_browser(self) -> None:
        """Forget the browser and whatever is left of it, without asking it anything."""
        self.browser = None
        self.kill_browsers()
        if self.browser_id is not None:
            process_tree.wait_dead(process_tree.group_members(self.browser_id), DEATH_SECONDS)
        self.browser_id = None

    def drop_driver(self) -> None:
        """End the driver and every browser it has started."""
        self.kill_browsers()
        if self.driver_id is not None:
            process_tree.kill(self.driver_id)
            process_tree.wait_dead([self.driver_id], DEATH_SECONDS)
        if self.playwright is not None:
            with self._limit(CLOSE_SECONDS):
                try:
                    self.playwright.stop()
                except (PlaywrightError, OSError):
                    # It was killed just now: all that counts is that it is forgotten.
                    pass
        self.playwright = self.driver_id = self.side_calls = None

    def end(self, within: Callable[[Callable[[], object]], object]) -> None:
        """End browser and driver, politely first; each polite step is made `within` a limit."""
        if self.browser is not None and self.is_browser_alive:
            within(self.browser.close)
        if self.playwright is not None:
            within(self.playwright.stop)
        self.drop_browser()
        self.drop_driver()

    def no_page(self, problem: str) -> LaunchFailed:
        """Say that the browser is of no use."""
        return LaunchFailed(
            f"the browser starts but opens no page ({problem}): "
            "look at the machine's memory and /dev/shm"
        )

    def kill_ordinary(self) -> None:
        """Kill the ordinary browser."""
        self.kill_browsers()

    def kill_browsers(self, *, but: ProcessId | None = None) -> None:
        """Kill the process groups of all browsers of this driver, except one."""
        # During a launch the leader is not known yet, but it is the driver's child already.
        leaders = process_tree.find_browsers(self.driver_id) if self.driver_id else []
        for leader in (*leaders, self.browser_id):
            if leader is not None and leader != but:
                process_tree.kill_group(leader)

    def kill_driver(self) -> None:
        """Kill the driver and its browsers."""
        self.kill_browsers()
        driver = self.driver_id or process_tree.find_driver(os.getpid())
        if driver is not None:
            for leader in process_tree.find_browsers(driver):
                process_tree.kill_group(leader)
            process_tree.kill(driver)

    def memory_mb(self) -> float:
        """The memory that driver and browsers hold for themselves alone, in MiB."""
        if self.driver_id is None:
            return 0.0
        pids = [stat.pid for stat in process_tree.descendants(self.driver_id.pid)]
        return process_tree.memory_mb([self.driver_id.pid, *pids])

    def _launch_browser(self, on_disconnect: Callable[..., None]) -> None:
        assert self.playwright is not None
        # Playwright's own timeout explains more than a killed browser does: it goes first.
        try:
            with self._limit(self._options.launch_timeout_seconds + CLOSE_SECONDS):
                options = self.way_out.for_launch(self._options)
                self.browser = launch_browser(self.playwright, options)
        except LaunchFailed:
            # A browser that came too late may live on, and only its driver leads us to it.
            self.kill_browsers()
            raise
        self.browser.on("disconnected", on_disconnect)
        found = process_tree.find_browsers(self.driver_id) if self.driver_id else []
        self.browser_id = found[-1] if found else None
