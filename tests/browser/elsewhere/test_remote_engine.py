"""A session whose browser is elsewhere does what one of our own does, and is let go of whole."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.browser.elsewhere.conftest import TOKEN
from worker.browser.page_rules import PageRules
from worker.errors import BrowserAway, LaunchFailed, PageRefused
from worker.evidence.redaction import redact_text
from worker.proxies.proxy import Proxy

BEARER = {"NIGHTSHIFT_BROWSER_HEADERS": f'{{"Authorization": "Bearer {TOKEN}"}}'}


def titles(session, site) -> list[str]:
    found = []
    for isolation in ("context", "page", "worker", "context"):
        page = session.page_for_job(isolation=isolation, task="t")
        page.goto(site.url("/counting"))
        found.append(page.title())
        session.release(clean=True)
    return found


def test_a_playwright_server_gives_every_job_a_browser_as_good_as_new(
    serve, connect, site, wait_until
):
    server = serve(path="/of-ours")
    session = connect(server.url)
    session.open()

    assert titles(session, site) == ["1,1,"] * 4
    assert len(server.browsers) == 1
    assert session.processes()[1] is None, "no browser runs here"
    session.close()
    wait_until(lambda: not server.browsers)


def test_cdp_behind_tls_wants_its_token_as_a_header(door, connect, site):
    session = connect(door.url, **BEARER)
    session.open()

    assert titles(session, site) == ["1,1,"] * 4
    assert session.page_for_job().evaluate("navigator.userAgent").count("Headless") == 0
    assert session.remote.facts["endpoint"] == f"wss://localhost:{door.port}/…"


def test_a_token_may_be_in_the_address_and_is_in_no_text(door, connect):
    session = connect(f"{door.url}?token=wrong-{TOKEN[::-1]}")

    with pytest.raises(LaunchFailed, match=r"it refuses our login \(HTTP 401") as refused:
        session.open()

    assert not refused.value.is_passing
    assert TOKEN[::-1] not in str(refused.value)
    assert TOKEN[::-1] not in redact_text(f"wrong-{TOKEN[::-1]}")


def test_a_full_endpoint_is_waited_for_and_another_is_used(door, serve, connect):
    door.refusal = 429
    alone, two = connect(door.url, **BEARER), connect(door.url, serve().url, **BEARER)

    with pytest.raises(BrowserAway, match=r"full or away \(HTTP 429: you are not wanted"):
        alone.open()
    # One process has one driver.
    alone.close()
    two.open()

    assert two.remote.facts["protocol"] == "playwright"


def test_the_wrong_version_is_told_with_both_and_a_remedy(serve, connect):
    old = '{"User-Agent": "Playwright/1.40.0 (x64; ubuntu 22.04)"}'
    session = connect(serve().url, NIGHTSHIFT_BROWSER_HEADERS=old)

    with pytest.raises(LaunchFailed, match="it runs Playwright 1") as failed:
        session.open()

    assert not failed.value.is_passing
    assert "pip install 'playwright==1." in str(failed.value)


def test_a_call_that_hangs_is_ended_and_the_next_job_has_a_browser(serve, connect, wait_until):
    server = serve()
    session = connect(server.url)
    page = session.page_for_job()

    with session.limit(0.5) as limit, pytest.raises(PlaywrightError):
        page.evaluate("while (true);")
    assert limit.fired
    session.release(clean=False)

    page = session.page_for_job()
    page.set_content("<title>next</title>")
    assert page.title() == "next"
    wait_until(lambda: len(server.browsers) == 1)


def test_a_cut_connection_is_noticed_and_made_anew(door, connect):
    session = connect(door.url, **BEARER)
    page = session.page_for_job()
    door.lose_connections()
    with pytest.raises(PlaywrightError):
        page.wait_for_timeout(10_000)

    session.hear_events()
    assert not session.is_alive
    assert not session.remote.is_gone
    session.release(clean=False)
    assert session.page_for_job().evaluate("1 + 1") == 2


def test_the_services_own_context_is_used_and_its_session_ends_with_the_job(
    chromium, connect, site
):
    session = connect(f"http://127.0.0.1:{chromium.port}", has_default_context=True)
    session.open()
    found = []
    for _ in range(2):
        page = session.page_for_job(isolation="worker", task="t")
        assert page.context is session.remote._hold.connected.browser.contexts[0]
        page.goto(site.url("/counting"))
        found.append(page.title())
        session.release(clean=True)
        assert not session.is_alive
        assert session.remote.facts is None

    assert found == ["1,1,", "1,1,"]


def test_private_addresses_as_such_are_refused_there_too(serve, connect, site):
    session = connect(serve().url, deny_private=True)
    page = session.page_for_job(rules=PageRules())

    with pytest.raises(PlaywrightError) as failed:
        page.goto(site.url("/"))

    explained = session.guards.explain(failed.value, session.recorder)
    assert isinstance(explained, PageRefused)


@pytest.mark.parametrize("unsafe", [True, False])
def test_behind_proxies_only_a_browser_is_used_that_lets_nothing_past_them(serve, connect, unsafe):
    session = connect(serve(unsafe=unsafe).url)
    session.use_proxy(Proxy.parse("http://127.0.0.1:9"))

    if unsafe:
        session.open()
        assert session.way_out.suits(Proxy.parse("http://127.0.0.1:9"))
    else:
        with pytest.raises(LaunchFailed, match="would go out past them"):
            session.open()
