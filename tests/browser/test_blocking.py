"""What is blocked is not asked for, wherever a page stands; all else is, and the guards hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.browser.options_site import OptionsSite
from worker.browser.page_rules import PageRules
from worker.browser.providers.spec import ProfileSpec
from worker.errors import PageRefused
from worker.tasks.wishes import Wishes

IMAGES = Wishes(block=("image",))
HOST = Wishes(block=("*.localhost", "localhost"))


@pytest.fixture(scope="module")
def shop() -> Iterator[OptionsSite]:
    shop = OptionsSite()
    yield shop
    shop.close()


@pytest.fixture(autouse=True)
def nothing_asked(shop):
    shop.forget()


@pytest.mark.parametrize("isolation", ["context", "page", "worker"])
def test_a_kind_of_file_is_not_loaded_in_pages_frames_and_popups(session, shop, isolation):
    for _ in range(2):
        shop.forget()
        page = session.page_for_job(isolation=isolation, task="t", wishes=IMAGES)
        page.goto(shop.url("/"))
        with page.expect_popup() as popup:
            page.evaluate("window.open('/popup')")
        popup.value.wait_for_load_state()
        session.release(clean=True)

        assert sorted(shop.asked) == ["/", "/frame", "/j.js", "/popup", "/s.css"]


def test_it_holds_for_the_next_job_on_an_emptied_page_too(session, shop):
    first = session.page_for_job(isolation="page", wishes=IMAGES)
    first.goto(shop.url("/"))
    session.release(clean=True)
    session.page_for_job(isolation="page", wishes=IMAGES)
    session.release(clean=True)
    shop.forget()
    again = session.page_for_job(isolation="page", wishes=IMAGES)
    again.goto(shop.url("/"))

    assert again is first
    assert "/a.png" not in shop.asked
    assert "/s.css" in shop.asked


def test_a_host_is_not_asked_for_anything_and_others_are(session, shop):
    page = session.page_for_job(wishes=HOST)
    page.goto(shop.url("/"))
    elsewhere = shop.url("/ad.js", host="localhost")
    done = page.evaluate("url => fetch(url).then(() => 'came', () => 'failed')", elsewhere)

    assert done == "failed"
    assert "/ad.js" not in shop.asked
    assert "/a.png" in shop.asked


def test_without_patterns_a_context_has_no_route(session, shop):
    page = session.page_for_job()

    assert not page.context._impl_obj._routes
    page.goto(shop.url("/"))
    assert "/a.png" in shop.asked


def test_service_workers_are_kept_to_it(session, shop):
    page = session.page_for_job(wishes=Wishes(block=("fetch",)))
    page.goto(shop.url("/worker", host="localhost"))
    page.wait_for_function("document.title === 'ready'")

    assert "/w.js" in shop.asked
    assert not {"/by-worker", "/blocked"} & set(shop.asked)


@pytest.mark.parametrize("isolation", ["page", "worker"])
def test_a_task_that_takes_all_routes_away_takes_it_from_itself_alone(session, shop, isolation):
    for _ in range(3):
        page = session.page_for_job(isolation=isolation, task="t", wishes=IMAGES)
        shop.forget()
        page.goto(shop.url("/"))
        assert "/a.png" not in shop.asked
        page.context.route("**/none", lambda route: route.abort())
        page.context.unroute_all()
        session.release(clean=True)


def test_a_tasks_own_routes_come_first_and_go_on_to_it(session, shop):
    page = session.page_for_job(wishes=IMAGES)
    heard = []
    page.route("**/*", lambda route: (heard.append(route.request.url), route.fallback()))
    page.goto(shop.url("/"))

    assert shop.url("/a.png") in heard
    assert "/a.png" not in shop.asked


def test_a_page_whose_own_host_is_blocked_is_said_to_be(session, shop):
    page = session.page_for_job(wishes=HOST)
    with pytest.raises(PlaywrightError) as caught:
        page.goto(shop.url("/", host="localhost"))
    told = session.guards.explain(caught.value, session.recorder)

    assert isinstance(told, PageRefused)
    assert "is among what this job blocks (*.localhost, localhost)" in str(told)
    assert shop.asked == []


def test_what_is_blocked_does_not_push_failures_out_of_the_evidence(session, shop):
    page = session.page_for_job(wishes=IMAGES)
    page.goto(shop.url("/"))
    page.set_content("".join(f"<img src={shop.url(f'/{n}.png')}>" for n in range(60)))
    page.evaluate("fetch('http://127.0.0.1:1/').catch(() => 0)")
    page.wait_for_timeout(200)
    network = session.recorder.network()

    assert [each["url"] for each in network["failed_requests"]] == ["http://127.0.0.1:1/"]
    assert network["blocked_requests"] >= 60
    session.release(clean=True)
    session.page_for_job()
    assert "blocked_requests" not in session.recorder.network()


def test_contexts_that_a_task_opens_are_kept_to_it(session, shop):
    browser = session.page_for_job(wishes=IMAGES).context.browser
    assert browser is not None
    browser.new_context().new_page().goto(shop.url("/"))
    browser.new_page().goto(shop.url("/"))

    assert "/s.css" in shop.asked
    assert not [path for path in shop.asked if path.endswith(".png")]


def test_the_rules_of_pages_hold_beside_it(session, shop):
    page = session.page_for_job(wishes=IMAGES, rules=PageRules())

    with pytest.raises(PageRefused):
        page.goto("file:///etc/passwd")


def test_it_holds_in_a_profile_and_ends_with_its_job(session, shop, tmp_path):
    session.open_profile(ProfileSpec("p1", "local", folder=tmp_path / "p1"))
    try:
        session.page_for_job(wishes=IMAGES).goto(shop.url("/"))
        assert "/a.png" not in shop.asked
        session.release(clean=True)
        session.page_for_job().goto(shop.url("/"))
        assert "/a.png" in shop.asked
    finally:
        session.close_profile()
