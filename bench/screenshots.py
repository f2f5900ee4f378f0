"""Draw the pictures of the dashboard in docs/ anew: `make screenshots`.

A night is written into a scratch database, the dashboard is served over it as the command does, and
Chromium looks at its pages. `--all DIR` draws every page, wide and narrow, light and dark;
`--only NAME` one of them.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from waitress import wasyncore  # type: ignore[import-untyped]

from bench import show_night
from bench.server import private_bench
from bench.small_png import shrink
from worker.browser.options import find_browser
from worker.dashboard.app import create_app
from worker.dashboard.config import DashboardConfig
from worker.dashboard.server import listen
from worker.database.client import Database
from worker.database_settings import DatabaseSettings

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


def main(given: Sequence[str] | None = None) -> int:
    """Draw them all, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="DIR", help="draw every page into a folder")
    parser.add_argument("--only", action="append", metavar="NAME", help="draw only this one")
    options = parser.parse_args(given)
    known = EVERYWHERE if options.all else PICTURES
    if unknown := set(options.only or ()) - set(known):
        parser.error(f"there is no picture {', '.join(sorted(unknown))}")
    wanted = {name: known[name] for name in options.only or known}
    with private_bench() as bench:
        draw(bench.database, bench.folder, wanted, options.all or DOCS)
    return 0


def draw(
    database: DatabaseSettings, scratch: Path, wanted: dict[str, tuple[str, int, str]], into: Path
) -> None:
    """Write the night into an empty queue, serve the dashboard over it, and draw what is wanted."""
    state = scratch / "state"
    config = DashboardConfig(
        database, scratch / "errors", state / "people.json", state, version="0.1.0"
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser())
        with closing(Database(database)) as db:
            show_night.fill(db, scratch / "errors", browser)
        with _served(config) as url:
            for name, (path, width, scheme) in wanted.items():
                show_night.show_pages(browser, state, database)
                _draw(browser, url + path, width, scheme, into / f"{name}.png")
        browser.close()


@contextmanager
def _served(config: DashboardConfig) -> Iterator[str]:
    """Serve a dashboard on a port of this machine, as the command does."""
    app, sockets = create_app(config), dict[int, Any]()
    server = listen(app, config, "127.0.0.1", 0, sockets)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.task_dispatcher.shutdown()
        # Only its own thread may close what it waits for.
        server.trigger.pull_trigger(partial(wasyncore.close_all, sockets))
        thread.join(5)
        app.extensions["nightshift"].wall.close()
        app.extensions["nightshift"].connections.close()


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
