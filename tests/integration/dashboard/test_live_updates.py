"""A page that is looked at stays up to date by itself, and says when it cannot."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.dashboard_site import PASSWORD, Site, made, served
from worker.queue import pause
from worker.system import live_wall


@pytest.fixture(scope="module")
def site(server, tmp_path_factory) -> Iterator[Site]:
    with made(server, tmp_path_factory.mktemp("live")) as found, served(found):
        yield found


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
