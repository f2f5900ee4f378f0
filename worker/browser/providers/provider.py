"""The interface of every provider: open a profile's browser, close it, stop it after a crash.

A provider knows neither leases nor queues. Whoever calls it holds the profile's lease, and is
therefore free to stop a browser that another worker has left behind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from playwright.sync_api import Browser, BrowserContext, Playwright
from playwright.sync_api import Error as PlaywrightError

from worker.browser.providers.spec import ProfileSpec
from worker.system import process_tree
from worker.system.process_tree import ProcessId

# Does one step that may fail or hang, and tells whether it went well.
Within = Callable[[Callable[[], object]], bool]


@dataclass(frozen=True, slots=True)
class OpenedProfile:
    """A profile whose browser is ready for pages."""

    spec: ProfileSpec
    context: BrowserContext
    browser: Browser | None
    # The leader of the browser's process group, if we have started it.
    process: ProcessId | None = None

    @property
    def is_ours(self) -> bool:
        """Whether its processes are ours to kill."""
        return self.process is not None

    @property
    def is_alive(self) -> bool:
        """Whether the browser still answers to us; asks the kernel where it can."""
        is_connected = self.browser is None or self.browser.is_connected()
        return is_connected and (self.process is None or process_tree.is_alive(self.process))


class Provider(Protocol):
    """Who makes a profile's browser."""

    # Past this time, `open` is taken to hang.
    open_seconds: float

    def open(self, playwright: Playwright, spec: ProfileSpec) -> OpenedProfile:
        """Start the profile's browser, or connect to it; raises ProviderError.

        After a failure nothing that was started for us is left running.
        """

    def close(self, opened: OpenedProfile, within: Within) -> None:
        """Let go of the profile, each step through `within`; never raises."""

    def kill(self, opened: OpenedProfile) -> None:
        """End a browser that hangs, from any thread and without Playwright; never raises."""

    def give_up(self) -> None:
        """Let an `open` that goes on wait no longer, from any thread; never raises."""

    def stop(self, spec: ProfileSpec) -> str | None:
        """Stop what a crashed worker has left, and name it; not running is fine.

        Raises ProviderError when it may still run.
        """

    def left_running(self, spec: ProfileSpec) -> str | None:
        """Say why the profile's browser may still run after it was closed or did not open."""


def attempt(step: Callable[[], object]) -> bool:
    """Do one step without a limit: the simplest `Within`."""
    try:
        step()
    except (PlaywrightError, OSError):
        return False
    return True
