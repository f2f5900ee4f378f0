"""Start the Playwright driver and a browser, or say in one line why not and what helps.

Secrets of the worker's environment reach neither of them, nor does its stderr. Leaves limits on
time and what happens to a started browser to the session.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserType, Playwright, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from worker.browser import arguments, face, sandbox
from worker.browser.options import NO_BROWSER, BrowserOptions, no_channel, no_other_browser
from worker.errors import LaunchFailed
from worker.system.private_environment import without_secrets
from worker.system.scarcity import is_scarcity, scarcity_in

DRIVER_LOG = "driver.log"

# In one line: the command line, which the message repeats, may speak of it as well.
_NO_SANDBOX = re.compile(r"FATAL[^\n]{0,300}sandbox", re.IGNORECASE)
_NO_CHANNEL = re.compile(r"distribution '[\w-]{1,40}' is not found")
_MISSING_LIBRARY = re.compile(r"error while loading shared libraries: (\S+?):")


def public_environment(environment: Mapping[str, str], tmp_dir: Path) -> dict[str, str]:
    """Copy an environment without its secrets, with the worker's own temporary folder."""
    public = without_secrets(environment)
    public["TMPDIR"] = str(tmp_dir)
    # A screenshot waits for fonts by default; on a failed page they may never come.
    public["PW_TEST_SCREENSHOT_NO_FONTS_READY"] = "1"
    return public


def start_driver(options: BrowserOptions) -> Playwright:
    """Start Playwright's Node driver; raises LaunchFailed when it cannot be started."""
    said = options.tmp_dir / DRIVER_LOG
    environment = public_environment(os.environ, options.tmp_dir)
    try:
        with (
            # Node makes the stderr it inherits non-blocking, for everybody who writes to that pipe:
            # a task that printed much would get BlockingIOError. A file is the driver's alone.
            said.open("w", encoding="utf-8") as log,
            redirect_stderr(log),
            _as_environment(face.driver_environment(options, environment)),
        ):
            return sync_playwright().start()
    except Exception as error:
        # A driver that dies while it starts surfaces as a bare Exception.
        why = last_line(said) or first_line(error)
        if is_scarcity(error) or scarcity_in(why):
            raise short_of_something("Playwright's driver", why) from error
        raise LaunchFailed(
            f"Playwright's driver does not start ({why}): run `make setup`"
        ) from error


def launch_browser(driver: Playwright, options: BrowserOptions) -> Browser:
    """Launch the browser that is wanted; raises LaunchFailed with the cause and a remedy."""
    kind: BrowserType = getattr(driver, options.kind)
    try:
        return kind.launch(**launch_settings(options))
    except PlaywrightError as error:
        raise launch_failure(str(error), options) from error


def launch_settings(options: BrowserOptions) -> dict[str, Any]:
    """How a browser is started, whether for ordinary jobs or in a profile's own folder."""
    return {
        "executable_path": options.executable,
        "channel": options.channel,
        "headless": options.headless,
        "args": arguments.of(options),
        # Other browsers than Chromium do not look at it.
        "chromium_sandbox": sandbox.is_wanted(),
        # The launcher decides what a signal means; a browser that obeys Ctrl-C by itself
        # is gone before its screenshot is taken.
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
        "env": public_environment(os.environ, options.tmp_dir),
        "timeout": options.launch_timeout_seconds * 1000,
        "slow_mo": options.slow_mo_seconds * 1000,
        "traces_dir": options.tmp_dir / "traces",
        "downloads_path": options.tmp_dir / "downloads",
        "proxy": {"server": options.way_out} if options.way_out else None,
    }


def launch_failure(message: str, options: BrowserOptions) -> LaunchFailed:
    """Make of Playwright's report of a failed launch what a person reads and a worker acts on."""
    if shortage := scarcity_in(message):
        return short_of_something(options.name, shortage)
    return LaunchFailed(explain(message, options))


def short_of_something(name: str, shortage: str) -> LaunchFailed:
    """Say that a program cannot be started now, and may be later."""
    return LaunchFailed(
        f"{name} does not start, the machine is short of something ({shortage}): "
        "free processes, memory or disk; it is tried again until then",
        is_passing=True,
    )


def explain(message: str, options: BrowserOptions) -> str:
    """Turn Playwright's report of a failed launch, often a page long, into one useful line."""
    name = options.name
    if found := _MISSING_LIBRARY.search(message):
        return (
            f"{name} lacks the library {found.group(1)}: run `make setup`, "
            f"or `playwright install-deps {options.kind}` as root"
        )
    if "Executable doesn't exist" in message or "ENOENT" in message:
        missing = NO_BROWSER if options.is_chromium else no_other_browser(options.kind)
        return missing if options.executable is None else f"{name} is gone: {missing}"
    if options.channel is not None and _NO_CHANNEL.search(message):
        return no_channel(options.channel)
    if "EACCES" in message:
        return f"{name} may not be executed by this user: set NIGHTSHIFT_BROWSER to one that may"
    if "Socket path too long" in message:
        return (
            f"{name} cannot keep its socket in {options.tmp_dir}, whose path is too long: choose a "
            f"shorter NIGHTSHIFT_STATE_DIR"
        )
    if "No usable sandbox" in message or _NO_SANDBOX.search(message):
        return f"{name} cannot set up its sandbox: {sandbox.how_to_allow()}"
    if "Missing X server" in message or "$DISPLAY" in message:
        return f"{name} has no display: set DISPLAY to one that is there, or leave --headed out"
    return f"{name} does not start ({first_line(message)}): try it by hand, or run `make setup`"


def first_line(error: BaseException | str) -> str:
    """The first line of a message that says something, at a readable length."""
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), "no reason given")[:200]


def last_line(path: Path) -> str:
    """The last line of a file that says something, at a readable length; empty without one."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")


@contextmanager
def _as_environment(wanted: Mapping[str, str]) -> Iterator[None]:
    # Playwright takes no environment for its driver, it copies ours. No other thread of a
    # worker reads the environment meanwhile.
    saved = dict(os.environ)
    os.environ.clear()
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(saved)
