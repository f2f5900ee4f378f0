"""Draw the pictures of the dashboard in docs/ anew: `make screenshots`.

A night is written into a scratch database, the dashboard is served over it as the command does, and
Chromium looks at its pages. `--all DIR` draws every page, wide and narrow, light and dark.
"""

from __future__ import annotations

import argparse
import sys
import threading
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from waitress.server import create_server

from bench import show_night
from bench.server import private_bench
from bench.small_png import shrink
from worker.browser.options import find_browser
from worker.dashboard.app import create_app
from worker.dashboard.config import DashboardConfig
from worker.database.client import Database

DOCS = Path(__file__).parents[1] / "docs" / "pictures"
JOB = f"/jobs/{show_night.TRIED}"
# Which page, how wide, light or dark.
PICTURES = {
    "overview": ("/", 1280, "light"),
    "overview-phone": ("/", 390, "dark"),
    "live": ("/live", 1280, "dark"),
    "errors": ("/errors", 1280, "light"),
    "job": (JOB, 1280, "dark"),
    "timeline": ("/timeline", 1280, "light"),
}
PAGES = {
    "overview": "/", "live": "/live", "errors": "/errors", "jobs": "/jobs?state=error", "job": JOB,
    "queues": "/queues", "batches": "/queues/batches", "batch": "/jobs?batch=monday",
    "parent": "/jobs/1",
    "workers": "/workers", "run": "/runs/2", "timeline": "/timeline", "profiles": "/profiles",
    "limits": "/limits", "reports": "/reports", "audit": "/audit", "sign-in": "/sign-in",
}  # fmt: skip
EVERYWHERE = {
    f"{name}-{width}-{scheme}": (path, width, scheme)
    for name, path in PAGES.items()
    for width in (390, 1280)
    for scheme in ("light", "dark")
}


def main() -> int:
    """Draw them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="DIR", help="draw every page into a folder")
    folder = parser.parse_args().all
    with private_bench() as bench, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser())
        state = bench.folder / "state"
        with closing(Database(bench.database)) as db:
            show_night.fill(db, bench.folder / "errors", browser)
        config = DashboardConfig(
            bench.database, bench.folder / "errors", state / "people.json", state, version="0.1.0"
        )
        server = create_server(create_app(config), host="127.0.0.1", port=0, threads=4)
        threading.Thread(target=server.run, daemon=True).start()
        url = f"http://127.0.0.1:{server.effective_port}"
        for name, (path, width, scheme) in (EVERYWHERE if folder else PICTURES).items():
            show_night.show_pages(browser, state, bench.database)
            _draw(browser, url + path, width, scheme, (folder or DOCS) / f"{name}.png")
        browser.close()
        server.close()
    return 0


def _draw(browser: Browser, url: str, width: int, scheme: str, path: Path) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900 if width > 600 else 844},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_load_state("networkidle")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(shrink(page.screenshot(full_page=True)))
    context.close()
    print(path)


if __name__ == "__main__":
    sys.exit(main())
