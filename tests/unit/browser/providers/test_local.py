from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Error as PlaywrightError

from worker.browser.options import BrowserOptions
from worker.browser.providers.local import LocalProvider
from worker.browser.providers.spec import ProfileSpec
from worker.errors import LaunchFailed


def test_chromium_finds_its_temporary_folder_even_if_that_was_removed_meanwhile(tmp_path: Path):
    found = []

    def launch(_: Path, **settings) -> None:
        found.append(Path(settings["env"]["TMPDIR"]).is_dir())
        raise PlaywrightError("seen enough")

    playwright = SimpleNamespace(chromium=SimpleNamespace(launch_persistent_context=launch))
    provider = LocalProvider(BrowserOptions(tmp_dir=tmp_path / "worker-0"))
    with pytest.raises(LaunchFailed):
        provider.open(playwright, ProfileSpec(7, "local", folder=tmp_path / "profile"))

    assert found == [True]
