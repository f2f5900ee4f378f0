"""A browser with windows really shows one, on a screen of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.browser.browser_choice import BrowserChoice
from worker.browser.options import find_full_browser
from worker.browser.session import BrowserSession
from worker.errors import LaunchFailed
from worker.tasks.wishes import Wishes

WIDTH, HEIGHT, DEPTH_BYTES = 1400, 1000, 4


@pytest.fixture
def full_browser() -> str | None:
    try:
        return find_full_browser(os.environ.get("NIGHTSHIFT_BROWSER"))
    except LaunchFailed:
        pytest.skip("deploy/setup-tests.sh gets a Chromium with windows")


@pytest.fixture
def screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A screen that nobody sees; gives the file in which its pixels are."""
    if shutil.which("Xvfb") is None:
        pytest.skip("deploy/setup-tests.sh gets a screen for tests")
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [
            *("Xvfb", "-displayfd", str(writing), "-nolisten", "tcp", "-fbdir", str(tmp_path)),
            *("-screen", "0", f"{WIDTH}x{HEIGHT}x24"),
        ],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as pipe:
        monkeypatch.setenv("DISPLAY", f":{pipe.readline().strip()}")
    yield tmp_path / "Xvfb_screen0"
    server.terminate()
    server.wait(10)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for the socket that a Chromium with windows has there."""
    with tempfile.TemporaryDirectory(prefix="headed-", dir="/tmp") as folder:
        yield Path(folder)


def lit_pixels(screen: Path) -> int:
    """Count what is not black, in the last bytes of the file: its head tells of colours."""
    pixels = screen.read_bytes()[-WIDTH * HEIGHT * DEPTH_BYTES :]
    return sum(1 for at in range(0, len(pixels), 4 * 97) if pixels[at : at + 3] != b"\0\0\0")


def test_a_page_is_shown_in_a_window_with_the_options_of_its_job(
    only_session, full_browser, screen, short_folder
):
    only_session.close()
    dark = lit_pixels(screen)
    choice = BrowserChoice(browser=full_browser, headless=False)
    session = BrowserSession(choice.options(short_folder / "tmp"))
    try:
        session.open()
        page = session.page_for_job(wishes=Wishes('{"locale": "de-DE", "no_viewport": true}'))
        page.set_content("<title>Shown</title><body style='background: white'>")
        page.wait_for_timeout(1000)
        shown = lit_pixels(screen)
        bars = page.evaluate("outerHeight - innerHeight")
        language = page.evaluate("navigator.language")
        agent = page.evaluate("navigator.userAgent")
    finally:
        session.close()

    assert dark == 0
    assert shown > 1000
    assert bars > 50
    assert language == "de-DE"
    assert "Headless" not in agent
