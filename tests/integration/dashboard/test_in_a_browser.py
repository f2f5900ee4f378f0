"""Every page and action in Chromium: wide and narrow, light and dark, and without JavaScript.

A CSP violation, an error in the console, a page wider than its window or a finding of axe fails.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Response,
    expect,
)

from tests.dashboard_site import Site, made, served

AXE = (Path(__file__).parents[2] / "axe" / "axe.min.js").read_text(encoding="utf-8")
PAGES = [
    *(
        "/",
        "/?range=day",
        "/live",
        "/errors",
        "/jobs",
        "/jobs?state=waiting",
        "/jobs/61",
        "/jobs/75",
        "/jobs/1",
    ),
    *(
        "/queues",
        "/queues/batches",
        "/jobs?batch=monday",
        "/jobs?parent=1",
        "/workers",
        "/runs/2",
        "/timeline",
        "/timeline?range=30m&until=2020-01-01T00:00",
        "/profiles",
        "/limits",
        "/reports",
        "/audit",
    ),
    *(
        "/jobs/61/attempts/1/compare",
        "/jobs/61/attempts/1/look",
        "/jobs/61/attempts/1/look?which=good",
        "/sign-in",
        "/nowhere",
    ),
]
KEYS = ("3f9a1c2e00000001", "b81e07d400000002", "5c20aa9100000003")
LOOKS = {
    "wide-light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "phone-dark": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}
# The frame of a captured page is not ours to judge.
RULES = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'], iframes: false}"


@pytest.fixture(scope="module")
def site(server, tmp_path_factory) -> Iterator[Site]:
    with made(server, tmp_path_factory.mktemp("browsed")) as found, served(found):
        lose_pictures(found)
        yield found


def lose_pictures(site: Site) -> None:
    """Let some evidence be pruned, some be elsewhere, and some pictures never have been taken."""
    errors = site.config.errors_dir
    (errors / "65" / "1" / "screenshot.png").unlink()
    shutil.rmtree(errors / "71" / "1")
    shutil.rmtree(errors / "68" / "1")
    picture = errors / "69" / "1" / "screenshot.png"
    picture.unlink()
    picture.symlink_to(errors / "61" / "1" / "screenshot.png")
    site.db.run_statement("UPDATE job_attempts SET evidence_host = 'night-9' WHERE job_id = 73")
    site.forget()


@pytest.fixture(scope="module", params=LOOKS)
def context(request, browser: Browser) -> Iterator[BrowserContext]:
    # axe is put into the page past its policy, which then still reports what the page itself does.
    found = browser.new_context(**LOOKS[request.param])
    yield found
    found.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    page, said = context.new_page(), []
    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if is_missing(answer) else None)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    page.close()
    assert missing == []
    # A browser says so when a page is refused with 404, which one of them is, and when the frame
    # of a captured page keeps its scripts from running.
    usual = ("404", "/page/inert", "tracker.example")
    assert [text for text in said if not any(word in text for word in usual)] == []


def is_missing(answer: Response) -> bool:
    """Tell whether a page has asked for something that is not there."""
    return answer.status >= 400 and answer.request.resource_type != "document"


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_sound(site, page, path):
    page.goto(site.url + path)

    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    assert findings(page) == []


def findings(page: Page) -> list[tuple[str, list[str]]]:
    """Tell what axe finds fault with on a page as it stands."""
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": AXE})
    found = page.evaluate(f"axe.run(document, {RULES})")
    return [
        (item["id"], [node["html"] for node in item["nodes"]][:3]) for item in found["violations"]
    ]


@pytest.mark.parametrize(
    ("path", "opener"),
    [
        ("/errors", "Discard…"),
        ("/errors", "Retry 8 as canary"),
        ("/profiles", "Clear…"),
        ("/jobs/111", "Retry this job…"),
        ("/limits", "Leave a site alone…"),
        ("/audit", "Pause…"),
    ],
)
def test_an_open_question_is_sound(site, page, path, opener):
    page.goto(site.url + path)
    page.get_by_role("button", name=opener).first.click()
    expect(page.get_by_role("dialog").filter(visible=True)).to_have_count(1)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    assert findings(page) == []


def test_a_question_is_closed_by_escape_and_nothing_is_done(site, page):
    page.goto(f"{site.url}/errors")

    page.get_by_role("button", name="Discard…").first.press("Enter")
    question = page.get_by_role("dialog").filter(visible=True)
    expect(question).to_have_count(1)
    page.keyboard.press("Escape")

    expect(question).to_have_count(0)
    assert site.db.run_statement("SELECT * FROM archived_jobs") == []


def test_pictures_that_are_not_there_are_not_asked_for(site, page):
    page.goto(f"{site.url}/errors")

    first, second, third = (page.locator(f"[id='g-{key}']") for key in KEYS)
    # Of 61, 65 and 68 only the first has a picture here; of 69, 71 and 73 none has.
    expect(first.locator("img")).to_have_count(1)
    expect(first.get_by_text("No picture here")).to_have_count(2)
    expect(second.locator("img")).to_have_count(0)
    expect(second).to_contain_text("No picture here. Such as job 69, job 71, job 73")
    expect(third.locator("img")).to_have_count(1)
    for job in (65, 68, 69, 73):
        page.goto(f"{site.url}/jobs/{job}")
        assert page.locator("img[alt*='failed']").count() == 0


def test_the_dead_are_red_rather_than_gone(site, page):
    page.goto(f"{site.url}/workers")

    expect(page.locator(".bad-note")).to_contain_text("Run 1 on night-2 is dead")
    expect(page.locator(".worker.dead")).to_have_count(2)


def test_nothing_is_asked_of_anybody_else(site, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))

    for path in ("/", "/errors", "/jobs/61"):
        page.goto(site.url + path)

    assert asked
    assert [url for url in asked if not url.startswith(site.url)] == []
