"""What a browser's program says of its version."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.browser.browser_version import parse_version, version_of
from worker.browser.options import BrowserOptions


@pytest.mark.parametrize(
    ("answer", "product", "full", "brand"),
    [
        ("Chromium 156.0.8078.79 built on Debian\n", "Chromium", "156.0.8078.79", ""),
        ("Google Chrome 150.0.1.2 ", "Google Chrome", "150.0.1.2", "Google Chrome"),
        ("Google Chrome for Testing 149.0.7.1", "Google Chrome for Testing", "149.0.7.1", ""),
    ],
)
def test_product_and_version_are_read(answer, product, full, brand):
    found = parse_version(answer)

    assert found is not None
    assert (found.product, found.full, found.brand) == (product, full, brand)
    assert found.major == int(full[:3])


def test_what_is_no_version_is_none():
    assert parse_version("") is None
    assert parse_version("Chromium of tomorrow") is None


def test_an_upgrade_in_place_is_noticed(tmp_path: Path):
    program = tmp_path / "chromium"
    options = BrowserOptions(tmp_dir=tmp_path, executable=str(program))
    found = []
    for major in (156, 157):
        newer = tmp_path / "new"
        newer.write_text(f"#!/bin/sh\necho Chromium {major}.0.1.2\n")
        newer.chmod(0o755)
        newer.rename(program)
        found.append(version_of(options))

    assert [each.major for each in found if each] == [156, 157]


def test_a_program_that_is_gone_or_silent_has_no_version(tmp_path: Path):
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexit 1\n")
    silent.chmod(0o755)

    assert version_of(BrowserOptions(tmp_dir=tmp_path, executable="/nowhere/chromium")) is None
    assert version_of(BrowserOptions(tmp_dir=tmp_path, executable=str(silent))) is None
