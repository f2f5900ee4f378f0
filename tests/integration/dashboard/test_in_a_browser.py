"""Every page and action in Chromium: wide and narrow, light and dark, and without JavaScript.

A CSP violation, an error in the console, a page wider than its window or a finding of axe fails.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Response,
    Route,
    expect,
    sync_playwright,
)

from tests.dashboard_site import PASSWORD, Site, made, served
from worker.browser.options import find_browser
from worker.queue import pause
from worker.system import live_wall

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
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_browser())
        yield found
        found.close()


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


def test_a_page_that_is_looked_at_stays_up_to_date(site, browser):
    page = browser.new_page()
    page.goto(f"{site.url}/audit")
    page.evaluate("document.getElementById('live').dataset.live = '1'")

    site.db.run_statement(
        "INSERT INTO audit (at, who, role, action, scope, address, number) VALUES "
        "(UTC_TIMESTAMP(6), 'vera', 'operator', 'retry', 'job 4', '127.0.0.1', 1)"
    )

    expect(page.get_by_text("vera")).to_be_visible(timeout=10_000)
    expect(page.locator("[data-ago]")).to_contain_text("s ago")
    page.close()


def test_a_page_that_nobody_looks_at_asks_for_nothing(site, browser):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site.url}/audit")
    # A headless browser never hides a page by itself.
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => !window.isLookedAt})")
    asked.clear()
    page.evaluate("document.getElementById('live').dataset.live = '1'")

    expect(page.locator("[data-ago]")).to_contain_text("5 s ago", timeout=15_000)
    assert asked == []

    with page.expect_request("**/audit"):
        page.evaluate("window.isLookedAt = true")
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.close()


def test_an_answer_that_never_comes_does_not_make_the_page_look_fresh(site, browser):
    page = browser.new_page()
    page.goto(f"{site.url}/audit")
    asked = []

    def hold(route: Route) -> None:
        asked.append(route)

    page.route("**/audit", hold)
    page.evaluate("document.getElementById('live').dataset.live = '1'")
    age = page.locator("[data-ago]")

    expect(age).to_contain_text("4 s ago", timeout=15_000)
    assert asked
    expect(age).to_contain_text("the dashboard does not answer", timeout=30_000)

    page.unroute("**/audit")
    expect(age).not_to_contain_text("does not answer", timeout=30_000)
    page.close()


def test_a_pause_by_somebody_else_is_shown_without_a_reload_by_hand(site, browser):
    page = browser.new_page()
    page.goto(f"{site.url}/audit")
    page.evaluate("document.getElementById('live').dataset.live = '1'")

    pause.pause(site.db, "a look", "vera")
    expect(page.get_by_role("button", name="Resume…")).to_be_visible(timeout=15_000)
    expect(page.locator(".hold-note").first).to_contain_text("by vera: “a look”")

    page.evaluate("document.getElementById('live').dataset.live = '1'")
    pause.resume(site.db)
    expect(page.get_by_role("button", name="Pause…")).to_be_visible(timeout=15_000)
    page.close()


def test_who_is_signed_out_elsewhere_is_asked_to_sign_in(server, browser, tmp_path):
    with made(server, tmp_path) as own, served(own):
        own.add_people()
        context = browser.new_context()
        page, other = context.new_page(), context.new_page()
        page.goto(f"{own.url}/audit")
        page.get_by_label("Name").fill("mara")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.goto(f"{own.url}/audit")
        other.goto(own.url)

        other.get_by_role("button", name="Sign out").click()
        expect(other.get_by_role("heading", name="Sign in")).to_be_visible()

        page.bring_to_front()
        page.evaluate("document.getElementById('live').dataset.live = '1'")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible(timeout=15_000)
        context.close()


def test_the_keyboard_stays_where_it_is_when_a_page_is_refreshed(site, browser):
    page = browser.new_page()
    page.goto(f"{site.url}/workers")
    page.locator("#live a").last.focus()
    where = page.evaluate("document.activeElement.outerHTML")
    page.evaluate("document.getElementById('live').dataset.live = '1'; window.old = live")
    site.db.run_statement("UPDATE runs SET host = 'night-7' WHERE id = 1")

    expect(page.get_by_text("night-7").first).to_be_visible(timeout=10_000)

    assert page.evaluate("window.old !== document.getElementById('live')")
    assert page.evaluate("document.activeElement.outerHTML") == where
    site.db.run_statement("UPDATE runs SET host = 'night-2' WHERE id = 1")
    page.close()


def test_the_wall_shows_new_pictures_by_itself_and_only_while_it_is_looked_at(site, browser):
    wall = live_wall.folder_of(site.config.state_dir, site.config.database.key)
    page = browser.new_page()
    page.goto(f"{site.url}/live")
    picture = page.locator(".wall img")
    expect(picture).to_have_count(0)

    image = page.screenshot(type="jpeg", quality=20)
    live_wall.keep(wall, 1, 75, image)
    expect(picture).to_have_count(1, timeout=10_000)
    first = picture.get_attribute("src")
    live_wall.keep(wall, 1, 75, image)
    expect(picture).not_to_have_attribute("src", first, timeout=10_000)

    assert picture.evaluate("(image) => image.complete && image.naturalWidth > 0")
    expect(page.locator("[data-age]")).to_contain_text("s")
    page.close()
    deadline = time.monotonic() + 30
    while list(wall.iterdir()):
        assert time.monotonic() < deadline, "pictures stay though nobody looks"
        time.sleep(0.1)


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
