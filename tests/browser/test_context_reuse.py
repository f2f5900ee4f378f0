"""With `isolation="worker"` a task's log-in stays with it, and nothing else piles up."""

from __future__ import annotations

from worker.browser import tabs
from worker.browser.session import BrowserSession
from worker.proxies.proxy import Proxy


def kept_page(session: BrowserSession, task: str = "portal", **options):
    return session.page_for_job(isolation="worker", task=task, **options)


def test_the_page_stays_with_its_task_and_is_blank(session, site):
    first = kept_page(session)
    first.goto(site.url("/counting"))
    session.release(clean=True)

    again = kept_page(session)
    assert again is first
    assert again.url == "about:blank"
    again.goto(site.url("/counting"))
    assert again.title() == "2,2,seen=1"


def test_no_other_task_gets_it(session, site):
    first = kept_page(session)
    first.goto(site.url("/counting"))
    session.release(clean=True)

    for options in ({"isolation": "worker", "task": "other"}, {"isolation": "page"}, {}):
        other = session.page_for_job(**options)
        assert other.context is not first.context
        other.goto(site.url("/counting"))
        assert other.title() == "1,1,"
        session.release(clean=True)
    assert kept_page(session) is first


def test_a_failure_costs_the_context(session):
    first = kept_page(session)
    session.release(clean=False)

    assert kept_page(session) is not first
    assert first.is_closed()


def test_a_block_costs_the_context_of_its_task_alone(session):
    bystander = kept_page(session, "bystander")
    session.release(clean=True)
    blocked = kept_page(session)
    session.renew_context()

    assert kept_page(session) is not blocked
    session.release(clean=True)
    assert kept_page(session, "bystander") is bystander


def test_another_proxy_means_another_context(session):
    first = kept_page(session)
    session.release(clean=True)
    session.use_proxy(Proxy("http", "127.0.0.1", 9))

    assert kept_page(session) is not first
    session.release(clean=True)
    session.use_proxy(None)


def test_listeners_and_routes_end_with_their_job(session, site):
    heard, routed = [], []
    for _ in range(3):
        page = kept_page(session)
        page.on("response", lambda response: heard.append(response.url))
        page.context.on("request", lambda request: heard.append(request.url))
        page.once("request", lambda request: heard.append(request.url))
        page.route("**/*", lambda route: (routed.append(route.request.url), route.continue_()))
        page.goto(site.url("/"))
        session.release(clean=True)
    assert len(heard) == 9
    assert len(routed) == 3

    page = kept_page(session)
    page.goto(site.url("/"))
    assert len(heard) == 9
    assert len(routed) == 3


def test_popups_end_with_their_job(session, site):
    page = kept_page(session)
    with page.expect_popup() as popup:
        page.goto(site.url("/popup"))
    session.release(clean=True)

    assert popup.value.is_closed()
    assert kept_page(session) is page


def test_keys_are_let_go(session, site):
    page = kept_page(session)
    page.keyboard.down("Shift")
    session.release(clean=True)
    page = kept_page(session)
    page.set_content("<input>")
    page.focus("input")
    page.keyboard.press("KeyA")

    assert page.input_value("input") == "a"


def test_what_cannot_be_undone_costs_the_context(session):
    page = kept_page(session)
    page.add_init_script("window.left = 1")
    session.release(clean=True)

    assert kept_page(session) is not page


def test_a_trace_does_not_cost_the_log_in(session, site):
    page = kept_page(session, trace=True)
    page.goto(site.url("/"))
    session.release(clean=True)

    assert kept_page(session) is page
    assert list((session.options.tmp_dir / "traces").iterdir()) == []


def test_the_least_used_goes_when_there_are_many(session):
    first = kept_page(session, "task 0")
    session.release(clean=True)
    second = kept_page(session, "task 1")
    session.release(clean=True)
    for number in (*range(2, tabs.MAX_KEPT), 0, tabs.MAX_KEPT):
        kept_page(session, f"task {number}")
        session.release(clean=True)

    assert second.is_closed()
    assert kept_page(session, "task 0") is first
