"""Draw the pictures of the dashboard in docs/ anew: `make screenshots`.

A night is written into a scratch database, the dashboard is served over it as the command does, and
Chromium looks at its pages.
"""

from __future__ import annotations

import sys
import threading
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from waitress.server import create_server

from bench import sample_night
from bench.server import private_bench
from worker.browser.options import find_browser
from worker.dashboard.app import create_app
from worker.dashboard.config import DashboardConfig
from worker.database.client import Database

DOCS = Path(__file__).parents[1] / "docs" / "pictures"
# Which page, how wide, light or dark.
PICTURES = {
    "overview": ("/", 1280, "light"),
    "overview-phone": ("/", 390, "dark"),
    "errors": ("/errors", 1280, "light"),
    "job": ("/jobs/61", 1280, "dark"),
    "timeline": ("/timeline?range=2h", 1280, "light"),
}


def main() -> int:
    """Draw them all."""
    DOCS.mkdir(exist_ok=True)
    with private_bench() as bench:
        folder = bench.folder
        with closing(Database(bench.database)) as db:
            sample_night.fill(db, folder / "errors")
        config = DashboardConfig(
            bench.database, folder / "errors", folder / "state" / "people.json", folder / "state",
            version="0.1.0",
        )  # fmt: skip
        server = create_server(create_app(config), host="127.0.0.1", port=0, threads=4)
        threading.Thread(target=server.run, daemon=True).start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_browser())
            _draw(browser, f"http://127.0.0.1:{server.effective_port}")
            browser.close()
        server.close()
    return 0


def _draw(browser: Browser, url: str) -> None:
    for name, (path, width, scheme) in PICTURES.items():
        context = browser.new_context(
            viewport={"width": width, "height": 900 if width > 600 else 844},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        page = context.new_page()
        page.goto(url + path)
        page.screenshot(path=DOCS / f"{name}.png", full_page=True)
        context.close()
        print(f"docs/pictures/{name}.png")


if __name__ == "__main__":
    sys.exit(main())
