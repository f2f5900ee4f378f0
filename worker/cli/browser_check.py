"""The browser that a run would use, opened once as a run would: for `doctor`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from worker.browser import sandbox
from worker.browser.browser_choice import BrowserChoice
from worker.browser.options import LABELS, find_browser_if_any
from worker.browser.session import BrowserSession
from worker.browser_settings import CHANNELS
from worker.cli import endpoint_check
from worker.cli.connection import state_dir


def check(choice: BrowserChoice) -> str:
    """Open a page in it, with the options of the run's contexts; say which browser that is."""
    if endpoint_check.wanted() is not None and find_browser_if_any(choice.browser) is None:
        return "none on this machine: local profiles cannot be opened, jobs use browsers elsewhere"
    choice.check()
    state_dir().mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="doctor-", dir=state_dir()))
    session = BrowserSession(choice.options(folder))
    try:
        session.open()
        page = session.page_for_job(wishes=choice.wishes_of_all())
        browser = page.context.browser
        version = browser.version if browser is not None else "of an unknown version"
        page.set_content("<title>Nightshift</title>")
        title = page.title()
        confined = f"; {sandbox.describe(os.getpid())}" if session.options.is_chromium else ""
    finally:
        session.close()
    shown = "" if choice.headless else ", with windows,"
    where = _where(choice, session.options.executable)
    return (
        f"{LABELS[choice.browser_type]} {version} ({where}){shown} opens a page ({title}){confined}"
    )


def _where(choice: BrowserChoice, executable: str | None) -> str:
    if choice.browser_channel is not None:
        return f"channel {choice.browser_channel}, {CHANNELS[choice.browser_channel]}"
    return executable or "the one that Playwright installed"
