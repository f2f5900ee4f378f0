"""A context is made as its job wishes, and only jobs that wish for the same share one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from tests.browser.options_site import OptionsSite
from worker.browser.face import Face
from worker.browser.providers.spec import ProfileSpec
from worker.errors import PageRefused
from worker.tasks.wishes import NONE, NOTHING, Declared, Wishes, merged

SEEN = """() => ({ language: navigator.language, agent: navigator.userAgent,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone, width: screen.width,
    dark: matchMedia('(prefers-color-scheme: dark)').matches, touch: navigator.maxTouchPoints > 0 })
"""


def wish(**context) -> Wishes:
    return merged(NOTHING, Declared(context), NOTHING)


@pytest.fixture(scope="module")
def shop() -> Iterator[OptionsSite]:
    shop = OptionsSite()
    yield shop
    shop.close()


def test_options_of_every_kind_reach_the_site(session, shop):
    wishes = wish(
        device="iPhone 15", locale="de-DE", timezone_id="Asia/Tokyo", color_scheme="dark",
        geolocation={"latitude": 52.5, "longitude": 13.4}, permissions=["geolocation"],
        extra_http_headers={"X-Team": "night"},
        storage_state={"cookies": [], "origins": [{
            "origin": shop.url("").rstrip("/"), "localStorage": [{"name": "seen", "value": "yes"}],
        }]},
    )  # fmt: skip
    page = session.page_for_job(wishes=wishes)
    page.goto(shop.url("/"))
    seen = page.evaluate(SEEN)

    assert (seen["language"], seen["zone"], seen["dark"]) == ("de-DE", "Asia/Tokyo", True)
    assert (seen["width"], seen["touch"]) == (393, True)
    assert "iPhone" in seen["agent"]
    assert shop.headers["user-agent"] == seen["agent"]
    assert (shop.headers["accept-language"], shop.headers["x-team"]) == ("de-DE", "night")
    page.goto(shop.url("/seen"))
    assert page.title() == ",yes"


def test_a_desktop_that_wishes_for_less_keeps_the_ordinary_user_agent(session, shop):
    page = session.page_for_job(wishes=wish(color_scheme="dark"))
    page.goto(shop.url("/"))

    assert " Chrome/" in shop.headers["user-agent"]
    assert "Headless" not in shop.headers["user-agent"]
    page.request.get(shop.url("/"))
    assert "Headless" not in shop.headers["user-agent"]


@pytest.mark.parametrize("isolation", ["context", "page", "worker"])
def test_a_job_never_gets_a_page_that_was_made_for_other_wishes(session, shop, isolation):
    german, french = wish(locale="de-DE"), wish(locale="fr-FR")
    for wishes, language in [(german, "de-DE"), (french, "fr-FR"), (NONE, "en-US")] * 3:
        page = session.page_for_job(isolation=isolation, task="t", wishes=wishes)
        page.goto(shop.url("/"))
        assert page.evaluate("navigator.language") == language
        session.release(clean=True)


def test_jobs_of_equal_wishes_take_turns_on_two_pages_of_their_own(session, shop):
    pages = []
    for _ in range(4):
        for wishes in (NONE, wish(locale="de-DE")):
            page = session.page_for_job(isolation="page", wishes=wishes)
            page.goto(shop.url("/"))
            session.release(clean=True)
            pages.append((wishes, page))
    german = [page for wishes, page in pages if wishes]
    ordinary = [page for wishes, page in pages if not wishes]

    assert len({*german[2:], *german[:2]}) <= 2
    assert not {id(page) for page in german} & {id(page) for page in ordinary}


def test_a_kept_context_belongs_to_task_and_wishes(session, shop):
    german = wish(locale="de-DE")
    first = session.page_for_job(isolation="worker", task="t", wishes=german)
    first.goto(shop.url("/"))
    session.release(clean=True)
    other = session.page_for_job(isolation="worker", task="t")
    session.release(clean=True)
    again = session.page_for_job(isolation="worker", task="t", wishes=german)

    assert other is not first
    assert again is first


def test_an_emptied_page_has_its_permissions_still(session, shop):
    wishes = wish(permissions=["geolocation"], geolocation={"latitude": 1, "longitude": 2})
    where = """() => new Promise(tell => navigator.geolocation.getCurrentPosition(
        place => tell(place.coords.latitude)))"""
    for _ in range(4):
        page = session.page_for_job(isolation="page", wishes=wishes)
        page.goto(shop.url("/", host="localhost"))
        assert page.evaluate(where) == 1
        session.release(clean=True)


def test_a_page_that_cannot_be_emptied_is_a_fresh_one(session, shop):
    state = {"cookies": [{"name": "n", "value": "1", "domain": "127.0.0.1", "path": "/"}]}
    wishes = wish(storage_state=state)
    for _ in range(3):
        page = session.page_for_job(isolation="page", wishes=wishes)
        page.goto(shop.url("/seen"))
        assert page.title() == "n=1,"
        page.context.clear_cookies()
        session.release(clean=True)


@pytest.mark.parametrize(
    "text",
    [
        '{"timezone_id": "Nowhere/At_all"}',
        '{"permissions": ["no-such-permission"]}',
        '{"storage_state": {"cookies": [{"name": "a", "value": "hunter22"}]}}',
        '{"is_mobile": true, "no_viewport": true}',
    ],
)
def test_options_that_the_browser_refuses_are_the_jobs_fault_and_cost_no_browser(session, text):
    session.page_for_job()
    browser = session.processes()

    with pytest.raises(PageRefused, match="the browser refuses the options of its context") as told:
        session.page_for_job(wishes=Wishes(text))
    assert "hunter22" not in str(told.value)
    assert "\n" not in str(told.value)
    assert session.page_for_job().title() == ""
    assert session.processes() == browser


def spare_wishes(session) -> Wishes | None:
    ready = session._tabs._spare._ready
    return ready[0].wishes if ready is not None else None


def wait_for_spare(session) -> None:
    deadline = time.monotonic() + 20
    while spare_wishes(session) is None:
        assert time.monotonic() < deadline, "no tab was prepared"
        session.page.wait_for_timeout(20)


@pytest.fixture
def foresee(session):
    yield lambda wishes: setattr(session, "foresee", lambda: wishes)
    session.foresee = lambda: None


def test_the_next_tab_is_made_for_the_same_wishes_if_nobody_knows_better(session, shop, foresee):
    session._tabs.drop_spare()
    german = wish(locale="de-DE")
    session.page_for_job(wishes=german).goto(shop.url("/"))
    wait_for_spare(session)

    assert spare_wishes(session) == german


def test_the_next_tab_is_made_for_what_the_next_job_will_wish_for(session, shop, foresee):
    session._tabs.drop_spare()
    german = wish(locale="de-DE")
    foresee(german)
    session.page_for_job().goto(shop.url("/"))
    wait_for_spare(session)
    prepared = session._tabs._spare._ready[1]
    session.release(clean=True)

    assert prepared.page is session.page_for_job(wishes=german)


def test_a_tab_that_was_made_for_other_wishes_is_thrown_away(session, shop, foresee):
    session._tabs.drop_spare()
    foresee(wish(locale="de-DE"))
    session.page_for_job().goto(shop.url("/"))
    wait_for_spare(session)
    prepared = session._tabs._spare._ready[1]
    session.release(clean=True)
    page = session.page_for_job()
    page.goto(shop.url("/"))

    assert page is not prepared.page
    assert prepared.page.is_closed()
    assert page.evaluate("navigator.language") == "en-US"


def test_a_profile_shows_its_own_face_whatever_a_job_wishes(session, shop, tmp_path):
    face = Face("Europe/Berlin", "de-DE", "linux", (1280, 720), 156)
    session.open_profile(ProfileSpec("p1", "local", folder=tmp_path / "p1", face=face))
    try:
        page = session.page_for_job(wishes=wish(locale="fr-FR", device="iPhone 15"))
        page.goto(shop.url("/"))
        seen = page.evaluate(SEEN)
    finally:
        session.close_profile()

    assert (seen["language"], seen["zone"], seen["agent"]) == (
        "de-DE",
        "Europe/Berlin",
        face.user_agent,
    )


def test_wishes_with_secrets_are_in_no_evidence(session, shop):
    wishes = Wishes(json.dumps({"extra_http_headers": {"Authorization": "hunter22-hunter22"}}))
    session.page_for_job(wishes=wishes).goto(shop.url("/"))

    assert shop.headers["authorization"] == "hunter22-hunter22"
    assert "hunter22" not in json.dumps(session.recorder.network())
    assert "hunter22" not in repr(wishes)
