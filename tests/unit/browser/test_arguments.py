"""Arguments of a browser's command line, and which engine is asked for with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error as PlaywrightError

from worker.browser import arguments, face, sandbox
from worker.browser.browser_version import BrowserVersion
from worker.browser.launch import explain, launch_browser
from worker.browser.options import BrowserOptions
from worker.browser.way_out import WayOut
from worker.errors import LaunchFailed
from worker.proxies.proxy import Proxy


class Engine:
    """What stands for one of the driver's kinds of browsers, and refuses to start."""

    def __init__(self, message: str) -> None:
        self.settings: dict[str, Any] = {}
        self._message = message

    def launch(self, **settings: Any) -> None:
        self.settings = settings
        raise PlaywrightError(self._message)


class Driver:
    """A driver with the three kinds."""

    def __init__(self, message: str = "Executable doesn't exist at /x") -> None:
        self.chromium, self.firefox, self.webkit = (Engine(message) for _ in range(3))


@pytest.mark.parametrize("kind", ["firefox", "webkit"])
def test_the_kind_that_is_wanted_is_asked_for_without_chromiums_arguments(tmp_path: Path, kind):
    driver = Driver()
    options = BrowserOptions(tmp_path, kind=kind, launch_args=("-x",), slow_mo_seconds=0.25)
    with pytest.raises(LaunchFailed, match=f"run `playwright install {kind}`"):
        launch_browser(driver, options)  # type: ignore[arg-type]

    asked = getattr(driver, kind).settings
    assert (asked["args"], asked["slow_mo"], asked["channel"]) == (["-x"], 250, None)
    others = {"chromium", "firefox", "webkit"} - {kind}
    assert not any(getattr(driver, other).settings for other in others)


def test_a_channel_is_looked_up_by_playwright(tmp_path: Path):
    driver = Driver("Chromium distribution 'chrome' is not found at /opt/google/chrome/chrome")
    options = BrowserOptions(tmp_path, channel="chrome")
    with pytest.raises(LaunchFailed, match="no chrome at /opt/google/chrome/chrome: install it"):
        launch_browser(driver, options)  # type: ignore[arg-type]

    asked = driver.chromium.settings
    assert (asked["channel"], asked["executable_path"]) == ("chrome", None)
    assert arguments.QUIET_ARGS[0] in asked["args"]


def test_features_that_the_settings_switch_are_added_to_ours(tmp_path: Path):
    given = (
        "--disable-features=Translate", "--mute-audio", "--disable-features=A,B",
        "--enable-features=C",
    )  # fmt: skip
    found = arguments.of(BrowserOptions(tmp_path, executable="/none", launch_args=given))
    (off,) = [each for each in found if each.startswith("--disable-features=")]
    (on,) = [each for each in found if each.startswith("--enable-features=")]

    assert off.endswith(",RenderDocument,Translate,A,B")
    assert on.startswith("--enable-features=CDPScreenshotNewSurface,")
    assert on.endswith(",C")
    assert found[-1] == "--mute-audio"


@pytest.mark.parametrize(
    ("changes", "has_sandbox", "is_inside"),
    [
        ({"executable": None}, False, True),
        ({"executable": "/usr/bin/chromium-headless-shell"}, False, True),
        ({"executable": "/usr/bin/chromium-headless-shell"}, True, False),
        ({"executable": "/usr/bin/chromium"}, False, False),
        ({"executable": None, "headless": False}, False, False),
        ({"channel": "chrome"}, False, False),
    ],
)
def test_only_a_shell_without_sandbox_draws_in_its_own_process(
    tmp_path, monkeypatch, changes, has_sandbox, is_inside
):
    monkeypatch.setattr(sandbox, "is_wanted", lambda: has_sandbox)
    monkeypatch.setattr(face, "ordinary_flags", lambda options: [])

    found = arguments.of(BrowserOptions(tmp_path, **changes))

    assert (arguments.DRAWN_INSIDE in found) == is_inside


def test_no_other_kind_is_started_behind_proxies(tmp_path: Path):
    way_out = WayOut()
    firefox = BrowserOptions(tmp_path, kind="firefox")
    assert way_out.for_launch(firefox) is firefox

    way_out.suits(Proxy.parse("http://127.0.0.1:9"))
    with pytest.raises(LaunchFailed, match="--browser-type firefox: there are proxies"):
        way_out.for_launch(firefox)


@pytest.mark.parametrize(
    ("product", "brand", "ending"),
    [
        ("Chromium", "", " Safari/537.36"),
        ("Google Chrome", "Google Chrome", " Safari/537.36"),
        ("Microsoft Edge", "Microsoft Edge", " Safari/537.36 Edg/156.0.0.0"),
    ],
)
def test_an_ordinary_user_agent_is_that_of_its_make(tmp_path, monkeypatch, product, brand, ending):
    version = BrowserVersion(product, 156, "156.0.1.2")
    monkeypatch.setattr(face, "version_of", lambda options: version)
    options = BrowserOptions(tmp_path)

    assert version.brand == brand
    assert face.ordinary_options(options, "156.0.1.2")["user_agent"].endswith(ending)
    assert face.ordinary_flags(options)[0].endswith(ending)


def test_another_kind_keeps_its_own_user_agent(tmp_path: Path):
    assert face.ordinary_options(BrowserOptions(tmp_path, kind="firefox"), "150.0") == {}


def test_a_missing_library_is_told_with_the_kind(tmp_path: Path):
    message = "x: error while loading shared libraries: libgtk-3.so.0: cannot open"
    told = explain(message, BrowserOptions(tmp_path, kind="firefox"))

    assert told.startswith("Playwright's Firefox lacks the library libgtk-3.so.0")
    assert "install-deps firefox" in told
