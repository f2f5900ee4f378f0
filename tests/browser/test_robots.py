"""Pages that a site's robots.txt refuses are not asked for, however a task comes to them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.browser.robots_site import RobotsSite
from tests.loopback import HttpProxy
from worker.browser import robots_file
from worker.browser.browser_version import version_of
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.providers.spec import ProfileSpec
from worker.browser.session import BrowserSession
from worker.errors import PageRefused, SiteFailed
from worker.execution.rehearsal import Rehearsal
from worker.proxies.proxy import Proxy
from worker.tasks.registry import Task

NO_LOGIN_UP_TO = 150


@pytest.fixture(scope="module")
def polite_session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser") / "worker-0"
    session = BrowserSession(
        BrowserOptions(
            tmp_dir=folder,
            executable=find_browser(),
            page_timeout_seconds=5,
            respect_robots=True,
        )
    )
    session.open()
    yield session
    session.close()


@pytest.fixture
def session(polite_session):
    yield polite_session
    polite_session.close_profile()
    polite_session.use_proxy(None)
    polite_session.release(clean=False)


@pytest.fixture
def site():
    site = RobotsSite()
    yield site
    site.close()


@pytest.fixture
def run(session, tmp_path):
    """Run a function of a page as a task."""
    rehearsal = Rehearsal(session, tmp_path, timeout_seconds=30.0)

    def run(work, **options):
        task = Task("works", lambda page, payload, job: work(page), **options)
        try:
            return rehearsal.run(task, {})
        finally:
            rehearsal.forget()

    return run


def test_what_is_allowed_is_opened_and_the_site_is_asked_once_and_without_cookies(run, site):
    assert run(lambda page: page.goto(site.url("/a")).status) == 200
    assert run(lambda page: page.goto(site.url("/b")).status) == 200

    assert site.asked[0] == ("/robots.txt", None)
    assert site.paths.count("/robots.txt") == 1
    # What a page loads is not looked at.
    assert "/private/picture.png" in site.paths
    (agent,) = site.agents
    assert "Headless" not in agent


def own_context(page, url):
    page.context.browser.new_page().goto(url)


def by_click(selector):
    def click(page, url):
        page.goto(url.replace("/private/1", "/a"))
        page.click(selector)
        page.wait_for_selector("#never", timeout=500)

    return click


WAYS = {
    "goto": (lambda page, url: page.goto(url), "/private/1", "1"),
    "new page": (lambda page, url: page.context.new_page().goto(url), "/private/1", "1"),
    "own context": (own_context, "/private/1", "1"),
    "redirect": (lambda page, url: page.goto(url), "/to/private/1", "1"),
    "link": (by_click("#link"), "/private/1", "link"),
    "form": (by_click("button"), "/private/1", "form"),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_refused_is_not_asked_for_and_names_the_rule(run, site, way):
    go, path, refused = WAYS[way]

    with pytest.raises(PageRefused) as refusal:
        run(lambda page: go(page, site.url(path)))

    assert f"/private/{refused}" in str(refusal.value)
    assert 'refuses it by line 2, "Disallow: /private" (--respect-robots)' in str(refusal.value)
    assert not {"/private/1", "/private/link", "/private/form?"} & set(site.paths)


def test_the_user_agent_that_a_page_really_has_is_the_one_that_counts(run, site, session):
    page = session.page_for_job()
    session.guards.robots._agent = "AcmeBot/1.0"

    with pytest.raises(PageRefused, match='by line 5, "Disallow: /"'):
        page.goto(site.url("/a"))
    assert "AcmeBot/1.0" in site.agents


def test_it_goes_out_by_the_jobs_proxy_with_its_login(run, site, session):
    if version_of(session.options).major <= NO_LOGIN_UP_TO:
        pytest.skip("docs/crawling.md: this Chromium gives no login while robots.txt is kept to")
    proxy = HttpProxy("berlin", site.port, "me", "hunter2")
    session.use_proxy(Proxy.parse(proxy.url))
    try:
        assert run(lambda page: page.goto("http://shop.test/a").status) == 200
        with pytest.raises(PageRefused):
            run(lambda page: page.goto("http://shop.test/private/1"))
    finally:
        proxy.close()
    assert site.paths[:2] == ["/robots.txt", "/a"]


def test_a_profile_asks_in_its_own_browser(run, site, session, tmp_path):
    session.open_profile(ProfileSpec(7, "local", folder=tmp_path / "profile"))

    assert run(lambda page: (page.goto(site.url("/a")).status, len(page.context.pages)))[0] == 200
    with pytest.raises(PageRefused):
        run(lambda page: page.goto(site.url("/private/1")))
    assert site.paths.count("/robots.txt") == 1


@pytest.mark.parametrize("status", [404, 403])
def test_a_site_without_a_robots_txt_is_open(run, site, status):
    site.status = status

    assert run(lambda page: page.goto(site.url("/private/1")).status) == 200


def test_a_site_whose_robots_txt_fails_is_left_alone_and_tried_later(run, site):
    site.status, site.headers = 503, {"Retry-After": "90"}

    for _ in range(2):
        with pytest.raises(SiteFailed, match="cannot be had") as failure:
            run(lambda page: page.goto(site.url("/a")))
        assert 80 < failure.value.after <= 90
    assert site.paths == ["/robots.txt"]


def test_a_robots_txt_elsewhere_is_followed(run, site):
    site.status, site.headers = 301, {"Location": "/rules"}

    with pytest.raises(PageRefused):
        run(lambda page: page.goto(site.url("/private/1")))


def test_of_an_endless_robots_txt_the_beginning_counts(run, site):
    site.endless = 0

    with pytest.raises(PageRefused):
        run(lambda page: page.goto(site.url("/private/1")))


def test_one_that_never_comes_to_its_end_is_given_up(run, site, session, monkeypatch):
    site.endless = 0.05
    monkeypatch.setattr(robots_file.fetch, "__defaults__", (1.0,))

    with pytest.raises(SiteFailed, match="no answer in time"):
        run(lambda page: page.goto(site.url("/a")))
    assert session.is_alive
    site.endless = None


def test_a_site_that_is_not_there_is_a_network_error_as_ever(run, closed_port):
    with pytest.raises(PlaywrightError, match="ERR_CONNECTION_REFUSED"):
        run(lambda page: page.goto(f"http://127.0.0.1:{closed_port}/"))


@pytest.mark.parametrize("isolation", ["page", "worker"])
def test_pages_that_serve_many_jobs_are_kept_to_it_too(run, site, isolation):
    for _ in range(2):
        run(lambda page: page.goto(site.url("/a")).status, isolation=isolation)
        with pytest.raises(PageRefused):
            run(lambda page: page.goto(site.url("/to/private/1")), isolation=isolation)
    assert site.paths.count("/robots.txt") == 1
