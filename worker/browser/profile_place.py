"""The place for one profile beside a session's ordinary browser: empty, or a profile is open in it.

Whatever goes wrong while a profile is opened, afterwards it is open or the place is empty.
"""

from __future__ import annotations

from collections.abc import Callable

from worker.browser.engine import Engine
from worker.browser.profile_hold import ProfileHold
from worker.browser.providers.provider import Within
from worker.browser.providers.registry import Providers
from worker.browser.providers.spec import ProfileSpec
from worker.browser.recorder import Recorder
from worker.browser.watchdog import Limit
from worker.system.process_tree import ProcessId


class ProfilePlace:
    """Opens, stops and closes the profile of one session, with that session's driver."""

    def __init__(
        self,
        providers: Providers,
        engine: Engine,
        limit: Callable[[float], Limit],
        on_new_driver: Callable[[], None],
        recorder: Recorder,
    ) -> None:
        # The open profile; `kill` reads it from other threads.
        self.hold: ProfileHold | None = None
        self._providers = providers
        self._engine = engine
        self._limit = limit
        self._on_new_driver = on_new_driver
        self._recorder = recorder

    def open(self, spec: ProfileSpec) -> None:
        """Open a profile in the empty place, with a new driver if the old one is dead.

        Raises ProviderError, or LaunchFailed when there is no driver or no Chromium.
        """
        hold = ProfileHold(self._providers.get(spec.provider), spec)
        if not self._engine.is_driver_alive:
            self._on_new_driver()
            self._engine.restart_driver()
        assert self._engine.playwright is not None
        self.hold = hold
        try:
            with self._limit(hold.open_seconds):
                hold.open(self._engine.playwright, self._recorder.mark_disconnected)
        except BaseException:
            self.kill()
            self.hold = None
            raise

    def close(self, within: Within) -> None:
        """Close the open profile, if there is one, and stop its browser; never raises."""
        if self.hold is not None:
            self.hold.close(within)
            self.hold = None

    @property
    def profile_id(self) -> str | None:
        """The open profile, for evidence."""
        return str(self.hold.spec.profile_id) if self.hold is not None else None

    @property
    def process(self) -> ProcessId | None:
        """The leader of the open profile's browser, if it runs here."""
        return self.hold.process if self.hold is not None else None

    def kill(self) -> bool:
        """Kill the open profile's browser and no other, from any thread; False without one."""
        if (hold := self.hold) is None:
            return False
        self._engine.kill_browsers(but=self._engine.browser_id)
        hold.kill()
        return True
