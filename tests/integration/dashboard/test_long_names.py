"""Names as long as they may be leave the pages their width, on a phone too."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.dashboard_site import Site, made, served

QUEUE, TASK, BATCH = "W" * 50, "W" * 64, "W" * 99
PAGES = (
    *("/", "/live", "/errors", "/workers", "/jobs", "/queues", "/queues/batches", "/runs/2"),
    *("/jobs/61", "/jobs/75", "/jobs/106", "/timeline", f"/jobs?queue={QUEUE}&batch={BATCH}1"),
)
# Shown texts with a long name in them of which a part is beside the window.
STICKING_OUT = """() => {
    const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
    const found = [], range = document.createRange()
    for (let text; text = texts.nextNode();) {
        if (!/W{20}/.test(text.data) || text.parentElement.closest('.sr')) continue
        range.selectNodeContents(text)
        if ([...range.getClientRects()].some(each => each.right > innerWidth - 12))
            found.push(text.parentElement.outerHTML.slice(0, 300))
    }
    return found
}"""


@pytest.fixture(scope="module")
def site(server, tmp_path_factory) -> Iterator[Site]:
    with made(server, tmp_path_factory.mktemp("long")) as found:
        for sql in (
            f"UPDATE work_queue SET queue = '{QUEUE}', task = '{TASK}'",
            f"UPDATE work_queue SET batch = '{BATCH}1' WHERE batch IS NOT NULL",
            f"UPDATE batches SET name = CONCAT('{BATCH}', id)",
            f"UPDATE runs SET queues = '{QUEUE}'",
            f"UPDATE failure_groups SET task = '{TASK}'",
            f"UPDATE schedules SET task = '{TASK}', queue = '{QUEUE}'",
        ):
            found.db.run_statement(sql)
        told = found.config.errors_dir / "61" / "1" / "error.json"
        steps = [{"at": "2026-11-19T23:46:07.244Z", "text": "W" * 255}]
        told.write_text(json.dumps(json.loads(told.read_text()) | {"steps": steps}))
        with served(found):
            yield found


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        yield context.new_page()


@pytest.mark.parametrize("path", PAGES)
def test_a_long_name_is_wrapped_within_the_window(site, page, path):
    page.goto(site.url + path)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    assert page.evaluate(STICKING_OUT) == []
