"""Which browser the settings ask for: found here, or one line that says how to get it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from worker.browser.elsewhere.config import Elsewhere
from worker.browser.elsewhere.places import require_functions
from worker.browser.options import (
    BrowserOptions,
    find_browser,
    find_browser_if_any,
    find_full_browser,
    find_other_browser,
    require_channel,
)
from worker.browser.screen import require_display
from worker.browser_settings import CHROMIUM, contradiction
from worker.errors import Fail, SettingsError, UsageError
from worker.settings import RunSettings
from worker.tasks import devices, wishes
from worker.tasks.wishes import NOTHING, Declared, Wishes


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserChoice:
    """What the settings say of the browser and of its contexts, each by the setting's name."""

    browser: str | None = None
    browser_type: str = CHROMIUM
    browser_channel: str | None = None
    browser_args: tuple[str, ...] = ()
    headless: bool = True
    slow_mo_seconds: float = 0.0
    browser_context: str | None = None
    block: tuple[str, ...] = ()
    deny_private: bool = False
    respect_robots: bool = False
    # Where ordinary jobs' browsers are, if not here.
    elsewhere: Elsewhere | None = None

    def __post_init__(self) -> None:
        if problem := contradiction(
            self.browser,
            self.browser_type,
            self.browser_channel,
            deny_private=self.deny_private,
            respect_robots=self.respect_robots,
            is_elsewhere=self.elsewhere is not None,
        ):
            raise UsageError(problem)

    @classmethod
    def of_run(cls, settings: RunSettings) -> BrowserChoice:
        """Take what a run's settings say."""
        return cls(**{each.name: getattr(settings, each.name) for each in fields(cls)})

    @property
    def wishes(self) -> Declared:
        """What is wished of every job's context."""
        return wishes.of_run(self.browser_context, self.block)

    def check(self, environment: Mapping[str, str] = os.environ) -> None:
        """Raise LaunchFailed if the browser is not there, SettingsError if it cannot be had so."""
        self._find(environment)
        if self.elsewhere is not None:
            require_functions(self.elsewhere)
        self.wishes_of_all()

    def wishes_of_all(self) -> Wishes:
        """Say what a context is made with for a task that wishes for nothing; raises SettingsError.

        A secret or a file that is missing would be each job's fault later; here it is a setting's.
        """
        run = self.wishes
        device = run.context.get("device")
        if device and (problem := devices.problem_of(device)):
            raise SettingsError(f"[browser.context] {problem}")
        try:
            return wishes.merged(run, NOTHING, NOTHING)
        except Fail as problem:
            raise SettingsError(f"[browser.context] {problem}") from problem

    def options(
        self, tmp_dir: Path, environment: Mapping[str, str] = os.environ, **more: Any
    ) -> BrowserOptions:
        """Say how it is started; raises as `check` does if it is not there."""
        return BrowserOptions(
            tmp_dir,
            executable=self._find(environment),
            kind=self.browser_type,
            channel=self.browser_channel,
            headless=self.headless,
            launch_args=self.browser_args,
            slow_mo_seconds=self.slow_mo_seconds,
            deny_private=self.deny_private,
            respect_robots=self.respect_robots,
            elsewhere=self.elsewhere,
            **more,
        )

    def _find(self, environment: Mapping[str, str]) -> str | None:
        """Find its program; None means that Playwright knows where it is."""
        if self.elsewhere is not None:
            # Profiles' browsers are here, wherever the others are.
            return find_browser_if_any(self.browser)
        if not self.headless:
            require_display(environment)
        if self.browser_channel is not None:
            require_channel(self.browser_channel)
            return None
        if self.browser_type != CHROMIUM:
            return find_other_browser(self.browser_type, self.browser)
        return find_browser(self.browser) if self.headless else find_full_browser(self.browser)
