"""Where there are proxies, nothing goes out directly unless its profile says so: invariant 15.

The site keeps who called, by address and `Via`; the proxies are real ones, with a login.
"""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.lifecycle.conftest import wait_until
from tests.tinyproxy import DIRECTLY, SHOP, CallersSite, Tinyproxy, needs_tinyproxy
from worker.exit_codes import ExitCode
from worker.profiles import store
from worker.profiles.store import NewProfile
from worker.proxies import store as proxies

pytestmark = needs_tinyproxy

TASKS = """
from worker import task


def look(page, payload, job):
    page.goto(payload["url"] + "?" + payload["as"])


@task("look_context", isolation="context")
def look_context(page, payload, job):
    look(page, payload, job)


@task("look_page", isolation="page")
def look_page(page, payload, job):
    look(page, payload, job)


@task("look_worker", isolation="worker")
def look_worker(page, payload, job):
    look(page, payload, job)


@task("everything")
def everything(page, payload, job):
    url, name = payload["url"] + "?", payload["as"]
    page.goto(url + name)
    page.request.get(url + name + "-tunnel")
    browser = page.context.browser
    context = browser.new_context()
    context.new_page().goto(url + name)
    context.request.get(url + name + "-tunnel")
    browser.new_page().goto(url + name)
    page.evaluate("url => fetch(url, {mode: 'no-cors'})", url + name)
    with page.expect_popup() as popup:
        page.evaluate("url => void window.open(url)", url + name)
    popup.value.wait_for_load_state()
"""


@pytest.fixture
def site():
    with closing(CallersSite()) as site:
        yield site


@pytest.fixture
def first(database, site, tmp_path):
    with closing(Tinyproxy(tmp_path / "proxies", "t1", "127.0.0.11", site.port)) as first:
        proxies.add(database, first.proxy)
        yield first


@pytest.fixture
def second(database, site, tmp_path):
    with closing(Tinyproxy(tmp_path / "proxies", "t2", "127.0.0.12", site.port)) as second:
        proxies.add(database, second.proxy)
        yield second


@pytest.fixture
def run(launch, tmp_path):
    tasks = tmp_path / "doors.py"
    tasks.write_text(TASKS, encoding="utf-8")

    def run(*flags: object, code: int = 0) -> str:
        done = launch("--workers", 1, "--tasks", tasks, *flags)
        # Sixteen jobs through proxies and profiles' browsers take half a minute on a busy machine.
        assert done.wait(50) == code, done.output
        return done.output

    return run


def unfinished(database) -> list[tuple]:
    rows = database.run_statement("SELECT * FROM work_queue WHERE status <> 'done'")
    return [(row["payload"], row["wait_reason"], row["last_error"]) for row in rows]


def all_done(queue) -> bool:
    return queue.counts()["done"] == sum(queue.counts().values())


def test_ordinary_jobs_go_through_the_proxies_in_every_isolation(
    run, queue, database, site, first, second
):
    names = ("look_context", "look_page", "look_worker", "everything")
    for name in names * 2:
        queue.enqueue(name, {"url": site.url, "as": name})

    run()

    known = {first.caller, second.caller}
    assert all(site.of(name) and site.of(name) <= known for name in names), site.callers
    assert site.of("everything-tunnel") <= {first.tunnel, second.tunnel}
    assert all_done(queue), unfinished(database)


def test_every_job_of_a_profile_or_account_goes_out_by_its_own_door(
    run, queue, database, site, first, second, tmp_path
):
    new = [
        NewProfile("p1", account_id="a1", folder=tmp_path / "p1", proxy="t2"),
        NewProfile("p2", account_id="a2", folder=tmp_path / "p2", proxy="none"),
    ]
    store.add(database, new, "me")
    store.add_account(database, "a3", by="me")
    manifests = {
        "profile": {"profile": "p1"},
        "temporary": {"profile": "p1", "temporary": True},
        "account": {"account": "a1"},
        "temporary-account": {"account": "a1", "temporary": True},
        "nobody": {"temporary": True},
        "without-profiles": {"account": "a3"},
        "direct": {"profile": "p2"},
        "temporary-direct": {"profile": "p2", "temporary": True},
    }
    for name, manifest in manifests.items():
        for _ in range(2):
            queue.enqueue("everything", {"url": site.url, "as": name, "manifest": manifest})

    run()

    assert all_done(queue), unfinished(database)
    for name in ("profile", "temporary", "account", "temporary-account"):
        assert site.of(name) == {second.caller}, name
        assert site.of(f"{name}-tunnel") == {second.tunnel}, name
    for name in ("direct", "temporary-direct"):
        assert site.of(name) == site.of(f"{name}-tunnel") == {DIRECTLY}, name
    assert site.of("without-profiles") in ({first.caller}, {second.caller})
    assert site.of("nobody") <= {first.caller, second.caller}


def test_with_deny_private_pages_go_through_the_proxy_too(
    run, queue, database, site, first, tmp_path
):
    store.add(database, [NewProfile("p1", folder=tmp_path / "p1", proxy="t1")], "me")
    for name, manifest in (("ordinary", None), ("profile", {"profile": "p1"})):
        payload = {"url": f"http://{SHOP}/", "as": name, "manifest": manifest}
        queue.enqueue("everything", payload)

    run("--deny-private")

    assert all_done(queue), unfinished(database)
    for name in ("ordinary", "profile"):
        assert site.of(name) == {first.caller}
        assert site.of(f"{name}-tunnel") == {first.tunnel}


def test_a_profile_that_says_nothing_is_not_opened_where_there_are_proxies(
    run, queue, database, site, first, tmp_path
):
    store.add(database, [NewProfile("p1", folder=tmp_path / "p1")], "me")
    job = queue.enqueue("everything", {"url": site.url, "as": "x", "manifest": {"profile": "p1"}})

    output = run(code=ExitCode.HELD_BACK)

    assert "profile p1 says neither which proxy it uses nor that it goes out directly" in output
    assert site.callers == {}
    assert queue.get(job)["attempts"] == 0


def test_a_browser_that_was_started_before_the_first_proxy_is_replaced(
    launch, queue, database, site, tmp_path, wait_for, run
):
    tasks = tmp_path / "doors.py"
    launched = launch("--workers", 1, "--follow", "--tasks", tasks)
    queue.enqueue("everything", {"url": site.url, "as": "before"})
    wait_for(lambda: all_done(queue))
    with closing(Tinyproxy(tmp_path / "proxies", "t1", "127.0.0.11", site.port)) as first:
        proxies.add(database, first.proxy)
        wait_for(lambda: "pages go through proxy t1" in launched.output or _knock(queue, site))
        queue.enqueue("everything", {"url": site.url, "as": "after"})
        wait_for(lambda: all_done(queue))

    assert site.of("before") == site.of("before-tunnel") == {DIRECTLY}
    assert site.of("after") == {first.caller}
    assert site.of("after-tunnel") == {first.tunnel}


@pytest.fixture
def wait_for():
    return lambda condition: wait_until(condition, "it came true", 60, every=0.2)


def _knock(queue, site) -> bool:
    """Let a worker look at the proxies: it does when it has something to do."""
    queue.enqueue("look_context", {"url": site.url, "as": "knock"})
    return False
