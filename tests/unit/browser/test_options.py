"""A browser is found where it is, and a wrong path is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.browser import options
from worker.browser.options import find_browser
from worker.errors import LaunchFailed, SettingsError


@pytest.fixture
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "browsers"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def make_program(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_an_explicit_path_is_taken(tmp_path: Path):
    program = make_program(tmp_path / "browser")

    assert find_browser(str(program)) == str(program)


def test_an_explicit_path_that_does_not_exist_is_named():
    with pytest.raises(SettingsError, match=r"NIGHTSHIFT_BROWSER.*/no/such/browser"):
        find_browser("/no/such/browser")


def test_an_explicit_path_that_is_no_program_is_named(tmp_path: Path):
    (tmp_path / "notes").write_text("")
    for path in (tmp_path / "notes", tmp_path):
        with pytest.raises(SettingsError, match="not an executable file"):
            find_browser(str(path))


def test_no_browser_at_all_is_one_line_with_the_remedy(empty_machine: Path):
    with pytest.raises(LaunchFailed, match=r"make setup.*NIGHTSHIFT_BROWSER"):
        find_browser()


def test_playwrights_own_download_comes_before_the_distributions(empty_machine: Path):
    shell = make_program(empty_machine / "bin" / "chromium-headless-shell")
    assert find_browser() == str(shell)

    folder = empty_machine / "browsers" / "chromium_headless_shell-1234"
    folder.mkdir(parents=True)
    assert find_browser() == str(shell)
    (folder / "INSTALLATION_COMPLETE").touch()
    assert find_browser() is None


def test_the_headless_shell_comes_before_the_full_browser(empty_machine: Path):
    for name in reversed(options.CANDIDATES):
        program = make_program(empty_machine / "bin" / name)
        assert find_browser() == str(program)
