"""A run leaves its report, and the report is a page that a browser shows without asking anybody."""

from __future__ import annotations

import json
import os
import stat

import pytest
from playwright.sync_api import sync_playwright

from tests.integration.reporting.night.invented_night import png
from tests.unit.reporting.night.hostile_night import EVIL, HUGE, hostile_night
from worker.browser.options import find_browser
from worker.reporting.night import formats


@pytest.fixture(scope="module")
def chromium():
    """A browser of the test's own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), chromium_sandbox=os.geteuid() != 0
        )
        yield browser
        browser.close()


def test_a_run_that_did_something_leaves_its_report(launch, queue, tasks, tmp_path):
    queue.enqueue_many("noop", [{}, {}, {}])
    queue.enqueue("no such task", {})
    folder = tmp_path / "reports"

    run = launch("--workers", 2, "--tasks", tasks, "--report-to", folder)

    assert run.wait() == 0
    page, data = sorted(folder.iterdir())
    assert f"report: {page}" in run.stderr
    assert (page.suffix, data.suffix) == (".html", ".json")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (page, data)} == {0o600}
    told = json.loads(data.read_text())
    assert (told["jobs"]["in"], told["jobs"]["done"], told["jobs"]["failed"]) == (4, 3, 1)
    assert f"run-{told['run']}" in page.name
    assert told["groups"][0]["is_new"]


def test_a_run_that_did_nothing_leaves_none(launch, queue, tmp_path):
    run = launch("--workers", 1, NIGHTSHIFT_REPORT_TO=str(tmp_path / "reports"))

    assert run.wait() == 0
    assert not (tmp_path / "reports").exists()


def test_a_report_that_cannot_be_written_does_not_change_the_exit_code(
    launch, queue, tasks, tmp_path
):
    queue.enqueue("noop", {})
    (tmp_path / "reports").write_text("a file where a folder should be")

    run = launch("--workers", 1, "--tasks", tasks, "--report-to", tmp_path / "reports")

    assert run.wait() == 0
    assert "the report was not written: " in run.stderr
    assert "launcher.py report --run " in run.stderr
    assert "Traceback" not in run.stderr


LINES = """cells => cells.map(cell => {
    const text = document.createRange();
    text.selectNodeContents(cell);
    return text.getClientRects().length;
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("evil", [EVIL, HUGE], ids=["evil", "huge"])
def test_the_page_asks_nobody_runs_nothing_and_fits(chromium, tmp_path, width, scheme, evil):
    path = tmp_path / "night.html"
    formats.save(formats.WRITERS["html"](hostile_night(evil, png())), path)
    page = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto(path.as_uri())

    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").count() == 1
    # An hour stays on its line, however wide what is beside it.
    lines = page.locator(".h").evaluate_all(LINES)
    assert lines
    assert set(lines) == {1}
    assert page.locator("svg[role=img] title").first.text_content()
    # The picture is there, and the sheets are: their hashes are those of the policy.
    assert page.evaluate("document.querySelector('.shot').naturalWidth") == 64
    ground = page.evaluate("getComputedStyle(document.querySelector('.page')).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(21, 26, 32)")
    page.close()


def test_without_any_sheet_or_picture_it_still_reads(chromium, tmp_path):
    text = formats.WRITERS["html"](hostile_night("shop.example.com"))
    bare = text.partition("<style>")[0] + text.rpartition("</style>")[2]
    page = chromium.new_page(viewport={"width": 600, "height": 800})
    page.set_content(bare)
    page.evaluate("document.querySelectorAll('svg').forEach(svg => svg.remove())")
    shown = page.locator("main").inner_text()
    page.close()

    for words in ("50,012 in = ", "◆ Failed", "341 (0.7 %)", "▲ For this morning", "NEW"):
        assert words in shown
