"""A process that opens a profile, says so, and holds it until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from worker.browser.options import BrowserOptions, find_browser
from worker.browser.providers.registry import Providers
from worker.browser.providers.spec import ProfileSpec


def main(provider: str, target: str, tmp_dir: str) -> None:
    spec = ProfileSpec(
        profile_id=1,
        provider=provider,
        folder=Path(target) if provider == "local" else None,
        endpoint=None if provider == "local" else target,
        vendor_id="p-1",
        options={"folder_id": "the-folder"},
    )
    options = BrowserOptions(tmp_dir=Path(tmp_dir), executable=find_browser())
    with sync_playwright() as playwright:
        Providers(options).get(provider).open(playwright, spec).context.new_page()
        sys.stdout.write("open\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
