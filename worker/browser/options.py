"""What a browser session needs to know, frozen; and where a Chromium is to be found.

Reads nothing from the environment: the caller passes an explicit path on if there is one.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from worker.errors import LaunchFailed, SettingsError

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
    "no Chromium with windows found, only a headless one or none: apt-get install chromium, "
    "or set NIGHTSHIFT_BROWSER=/path/to/chromium"
)
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
    state_dir: Path | None = None
    # Megabytes that one job may write into `tmp_dir`.
    job_disk_mb: float = 500
    deny_private: bool = False
    # The proxy that a browser is started with, for contexts that have none of their own.
    way_out: str | None = None
    # A window for a person to work in, not for a task.
    for_person: bool = False

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
