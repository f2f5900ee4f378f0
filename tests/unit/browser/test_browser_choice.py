"""The browser that the settings ask for is found, or one line says how to get it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from worker.browser import options
from worker.browser.browser_choice import BrowserChoice
from worker.browser.options import as_chromium
from worker.cli.options import OF_BROWSER
from worker.database_settings import DatabaseSettings
from worker.errors import LaunchFailed, SettingsError, UsageError
from worker.exit_codes import ExitCode
from worker.settings import RunSettings

SCREEN = {"DISPLAY": ":0"}


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a headless Chromium and no other browser."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "browsers"))
    program(tmp_path / "bin" / "chromium-headless-shell")
    return tmp_path


def refusal(choice: BrowserChoice, **environment: str) -> str:
    with pytest.raises(LaunchFailed) as caught:
        choice.check(environment)
    text = str(caught.value)
    assert caught.value.exit_code == ExitCode.UNAVAILABLE
    assert "\n" not in text
    return text


def test_it_is_said_by_the_names_of_the_settings():
    names = {each.name for each in fields(BrowserChoice)}
    settings = RunSettings(DatabaseSettings(), browser_type="firefox", slow_mo_seconds=0.5)
    choice = BrowserChoice.of_run(settings)

    # And what the addresses of browsers elsewhere come to.
    assert names == {*OF_BROWSER, "elsewhere"}
    assert (choice.browser_type, choice.slow_mo_seconds) == ("firefox", 0.5)


def test_everything_that_is_said_reaches_the_options(machine, tmp_path):
    choice = BrowserChoice(browser_args=("--mute-audio",), slow_mo_seconds=0.5, deny_private=True)
    found = choice.options(tmp_path / "tmp", {}, page_timeout_seconds=7)

    assert (found.launch_args, found.slow_mo_seconds) == (("--mute-audio",), 0.5)
    assert (found.deny_private, found.page_timeout_seconds) == (True, 7)
    assert found.executable == str(machine / "bin" / "chromium-headless-shell")


@pytest.mark.parametrize(("kind", "label"), [("firefox", "Firefox"), ("webkit", "WebKit")])
def test_another_kind_that_is_not_here_is_one_line(machine, kind, label):
    program(machine / "bin" / kind)
    text = refusal(BrowserChoice(browser_type=kind))

    assert text.startswith(f"no {label} of Playwright's found: run `playwright install {kind}`")
    assert "does not speak its protocol" in text


@pytest.mark.parametrize("folder", ["firefox-1500", "webkit_debian12_x64_special-2092"])
def test_another_kind_that_playwright_has_downloaded_is_left_to_it(machine, tmp_path, folder):
    (machine / "browsers" / folder).mkdir(parents=True)
    choice = BrowserChoice(browser_type=folder[:7].rstrip("_-"))
    refusal(choice)
    (machine / "browsers" / folder / "INSTALLATION_COMPLETE").touch()

    found = choice.options(tmp_path / "tmp", {})
    assert (found.executable, found.kind, found.is_chromium) == (None, choice.browser_type, False)


def test_another_kind_may_be_named_by_its_path(machine, tmp_path):
    own = program(machine / "own" / "firefox")
    choice = BrowserChoice(browser_type="firefox", browser=str(own))

    assert choice.options(tmp_path / "tmp", {}).executable == str(own)
    with pytest.raises(SettingsError, match="NIGHTSHIFT_BROWSER: there is no"):
        BrowserChoice(browser_type="firefox", browser="/no/such/firefox").check({})


def test_a_channel_that_is_not_here_is_one_line_and_one_that_is_here_is_playwrights(
    machine, tmp_path, monkeypatch
):
    monkeypatch.setitem(options.CHANNELS, "chrome", str(machine / "opt" / "chrome"))
    choice = BrowserChoice(browser_channel="chrome")
    assert refusal(choice).startswith(f"no chrome at {machine / 'opt' / 'chrome'}: install it")

    program(machine / "opt" / "chrome")
    found = choice.options(tmp_path / "tmp", {})
    assert (found.channel, found.executable) == ("chrome", None)


def test_windows_need_a_display_and_a_chromium_that_has_them(machine, tmp_path):
    choice = BrowserChoice(headless=False)

    assert refusal(choice).startswith("there is no display to open a window on")
    assert "make setup HEADED=1" in refusal(choice, **SCREEN)
    assert "make setup HEADED=1" in refusal(choice, WAYLAND_DISPLAY="wayland-0")
    full = program(machine / "bin" / "chromium")
    assert choice.options(tmp_path / "tmp", SCREEN).executable == str(full)


def test_what_cannot_be_had_together_is_wrong_usage():
    with pytest.raises(UsageError, match="--deny-private holds in Chromium only"):
        BrowserChoice(browser_type="firefox", deny_private=True)
    for kind in ("firefox", "webkit"):
        with pytest.raises(UsageError, match="--respect-robots holds in Chromium only"):
            BrowserChoice(browser_type=kind, respect_robots=True)
        with pytest.raises(UsageError, match="--respect-robots holds in Chromium only"):
            RunSettings(DatabaseSettings(), browser_type=kind, respect_robots=True)


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ('{"device": "iPhone15"}', "knows no 'iPhone15'; did you mean iPhone 15"),
        ('{"storage_state": "/no/such/state.json"}', "storage_state: /no/such/state.json cannot"),
        ('{"extra_http_headers": {"A": {"secret": "NO_SUCH"}}}', "there is no secret NO_SUCH"),
    ],
)
def test_a_context_that_no_job_could_have_is_a_wrong_setting(machine, context, told):
    with pytest.raises(SettingsError, match=told):
        BrowserChoice(browser_context=context).check({})


def test_a_local_profile_has_a_chromium_whatever_ordinary_jobs_have(machine, tmp_path):
    (machine / "browsers" / "firefox-1500").mkdir(parents=True)
    (machine / "browsers" / "firefox-1500" / "INSTALLATION_COMPLETE").touch()
    firefox = BrowserChoice(browser_type="firefox", browser_args=("-x",)).options(tmp_path, {})
    found = as_chromium(firefox)

    assert (found.kind, found.launch_args) == ("chromium", ())
    assert found.executable == str(machine / "bin" / "chromium-headless-shell")
    ordinary = BrowserChoice().options(tmp_path, {})
    assert as_chromium(ordinary) is ordinary
