"""What a browser session needs to know, frozen; and where a browser is to be found.

Reads nothing from the environment: the caller passes an explicit path on if there is one.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from worker.browser_settings import CHANNELS, CHROMIUM, FIREFOX, WEBKIT
from worker.errors import LaunchFailed, SettingsError

if TYPE_CHECKING:
    from worker.browser.elsewhere.config import Elsewhere

# The headless shell comes first: it is about twice as fast as the full browser.
CANDIDATES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)

NO_BROWSER = "no Chromium found: run `make setup`, or set NIGHTSHIFT_BROWSER=/path/to/chromium"

NO_FULL_BROWSER = (
    "no Chromium with windows found, only a headless one or none: apt-get install chromium "
    "(in a checkout: make setup HEADED=1), or set NIGHTSHIFT_BROWSER=/path/to/chromium"
)
LABELS = {CHROMIUM: "Chromium", FIREFOX: "Firefox", WEBKIT: "WebKit"}
# What is in the name of a browser that has no windows.
SHELL = "headless"


@dataclass(frozen=True, slots=True)
class BrowserOptions:
    """How one worker's browser is started; `tmp_dir` is the worker's own and gets wiped.

    `state_dir` is shared by all workers of the machine; by default it is beside `tmp_dir`.
    """

    tmp_dir: Path
    executable: str | None = None
    headless: bool = True
    page_timeout_seconds: float = 30
    launch_timeout_seconds: float = 60
    launch_args: tuple[str, ...] = ()
    # Playwright's name of the browser's kind, and of an installed Chrome or Edge.
    kind: str = CHROMIUM
    channel: str | None = None
    slow_mo_seconds: float = 0.0
    state_dir: Path | None = None
    # Megabytes that one job may write into `tmp_dir`.
    job_disk_mb: float = 500
    deny_private: bool = False
    respect_robots: bool = False
    # The proxy that a browser is started with, for contexts that have none of their own.
    way_out: str | None = None
    # A window for a person to work in, not for a task.
    for_person: bool = False
    # Where ordinary jobs' browsers are, if not here; and which of a run's workers this is.
    elsewhere: Elsewhere | None = None
    slot: int = 0
    # Whether the pages' own scripts run.
    scripts: bool = True

    @property
    def is_chromium(self) -> bool:
        """Whether it takes Chromium's arguments and speaks its protocol."""
        return self.kind == CHROMIUM

    @property
    def is_shell(self) -> bool:
        """Whether it is the headless shell, which has no windows."""
        is_named_so = self.executable is None or SHELL in Path(self.executable).name
        return self.is_chromium and self.headless and self.channel is None and is_named_so

    @property
    def name(self) -> str:
        """What the browser is called in messages."""
        if self.channel is not None:
            return f"the browser of --browser-channel {self.channel}"
        return self.executable or f"Playwright's {LABELS[self.kind]}"

    @property
    def shared_dir(self) -> Path:
        """Where workers of this machine keep what they must agree on."""
        return self.state_dir or self.tmp_dir.parent


def find_browser(explicit: str | None = None) -> str | None:
    """Find the browser to start; None means the one that Playwright itself downloaded.

    Raises SettingsError if the explicit path is not a program, LaunchFailed if none is found.
    """
    if explicit:
        return _checked(explicit)
    if has_downloaded_shell():
        return None
    for name in CANDIDATES:
        if found := shutil.which(name):
            return found
    raise LaunchFailed(NO_BROWSER)


def find_browser_if_any(explicit: str | None = None) -> str | None:
    """Find the browser to start for profiles, where ordinary jobs need none; None without one."""
    try:
        return find_browser(explicit)
    except LaunchFailed:
        return None


def find_full_browser(explicit: str | None = None) -> str | None:
    """Find a browser with windows; None means the one that Playwright itself downloaded.

    Raises LaunchFailed if there is none, SettingsError if the explicit path is not a program.
    """
    if explicit and SHELL not in Path(explicit).name:
        return _checked(explicit)
    for name in CANDIDATES:
        if SHELL not in name and (found := shutil.which(name)):
            return found
    if _downloaded("chromium-*") is not None:
        return None
    raise LaunchFailed(NO_FULL_BROWSER)


def find_other_browser(kind: str, explicit: str | None = None) -> str | None:
    """Find Playwright's own Firefox or WebKit; None means the one that Playwright downloaded.

    Raises LaunchFailed if there is none, SettingsError if the explicit path is not a program.
    """
    if explicit:
        return _checked(explicit)
    # WebKit's folder may name the system that it was built for.
    if _downloaded(f"{kind}[-_]*") is not None:
        return None
    raise LaunchFailed(no_other_browser(kind))


def as_chromium(options: BrowserOptions) -> BrowserOptions:
    """Say how a local profile's browser is started: a Chromium, whatever ordinary jobs have.

    Raises LaunchFailed if none is here.
    """
    if options.is_chromium:
        return options
    found = find_browser() if options.headless else find_full_browser()
    return replace(options, kind=CHROMIUM, executable=found, launch_args=())


def no_other_browser(kind: str) -> str:
    """Say how to get a browser that no package of the system has."""
    return (
        f"no {LABELS[kind]} of Playwright's found: run `playwright install {kind}` (a system's own "
        f"{LABELS[kind]} does not speak its protocol), or leave --browser-type out"
    )


def require_channel(channel: str) -> None:
    """Raise LaunchFailed unless the Chrome or Edge of that name is where Playwright looks."""
    if not os.access(CHANNELS[channel], os.X_OK):
        raise LaunchFailed(no_channel(channel))


def no_channel(channel: str) -> str:
    """Say where a Chrome or Edge would have to be."""
    return (
        f"no {channel} at {CHANNELS[channel]}: install it (as root: playwright install {channel}), "
        f"or leave --browser-channel out"
    )


def has_downloaded_shell() -> bool:
    """Tell whether `playwright install --only-shell chromium` has left its browser here."""
    return _downloaded("chromium_headless_shell-*") is not None


def downloaded_shell() -> Path | None:
    """Find the program that Playwright itself downloaded."""
    folder = _downloaded("chromium_headless_shell-*")
    found = [] if folder is None else folder.glob("chrom*/*headless*shell")
    return next((path for path in found if os.access(path, os.X_OK)), None)


def _downloaded(name: str) -> Path | None:
    configured = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(configured) if configured not in ("", "0") else cache / "ms-playwright"
    # Playwright writes the marker last, so an interrupted download does not count.
    found = sorted(folder.glob(f"{name}/INSTALLATION_COMPLETE"))
    return found[-1].parent if found else None


def _checked(explicit: str) -> str:
    path = shutil.which(explicit) if os.sep not in explicit else explicit
    if path is None or not Path(path).exists():
        raise SettingsError(f"NIGHTSHIFT_BROWSER: there is no {explicit}")
    if not Path(path).is_file() or not os.access(path, os.X_OK):
        raise SettingsError(f"NIGHTSHIFT_BROWSER: {explicit} is not an executable file")
    return path
