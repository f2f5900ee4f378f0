"""Behind a proxy nothing of a browser passes it by: no UDP, no lookup, no context without it.

Shows invariant 15 for the browsers that we start. Each rule has a test that fails without it.
"""

from __future__ import annotations

import os
import shlex
from contextlib import closing
from dataclasses import replace

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.browser.leak_site import LeakyProxy, NameServer, UdpListener
from worker.browser import launch
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.providers.spec import ProfileSpec
from worker.browser.session import BrowserSession
from worker.errors import PageRefused

URL = "http://shop.test/"
GATE = "gate.test"
needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="a name server wants port 53, and a mount"
)


@pytest.fixture(scope="module")
def names():
    """A name server of this module's own, that only its browser asks."""
    if os.geteuid() != 0:
        yield None
        return
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    with closing(NameServer(f"127.0.53.{number + 1}")) as names:
        names.address = f"127.0.53.{number + 1}"
        yield names


@pytest.fixture(scope="module")
def executable(names, tmp_path_factory):
    """A Chromium that asks our name server, in a mount namespace of its own."""
    found = find_browser()
    if names is None:
        return found
    folder = tmp_path_factory.mktemp("browser-with-names")
    (folder / "resolv.conf").write_text(f"nameserver {names.address}\n")
    script = folder / "chromium"
    command = shlex.quote(
        f"mount --bind {folder}/resolv.conf /etc/resolv.conf && "
        f'exec {found or launch.NO_BROWSER} "$@"'
    )
    script.write_text(f'#!/bin/sh\nexec unshare -m sh -c {command} chromium "$@"\n')
    script.chmod(0o755)
    return str(script)


@pytest.fixture(scope="module")
def session(executable, tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser") / "worker-0"
    options = BrowserOptions(tmp_dir=folder, executable=executable, page_timeout_seconds=20)
    with closing(BrowserSession(options)) as session:
        yield session


@pytest.fixture
def stun():
    with closing(UdpListener()) as stun:
        yield stun


@pytest.fixture
def proxy(stun, session, names):
    if names is not None:
        names.asked.clear()
    with closing(LeakyProxy(stun.port)) as proxy:
        yield proxy
    session.close_profile()
    session.release(clean=False)


def look(page, url: str = URL) -> None:
    """Open the leaky page, and wait until it has tried everything."""
    page.goto(url)
    page.wait_for_function("document.title === 'gathered'", timeout=15_000)


def opened(session, proxy, kind: str, tmp_path):
    """A page behind the proxy: of the ordinary browser, or of a local profile."""
    if kind == "ordinary":
        session.use_proxy(proxy)
    else:
        session.use_proxy(None)
        spec = ProfileSpec("p1", "local", folder=tmp_path / "p1", proxy=proxy)
        session.open_profile(spec)
    return session.page_for_job()


KINDS = pytest.mark.parametrize("kind", ["ordinary", "local profile"])


@KINDS
def test_webrtc_sends_no_datagram_past_the_proxy(session, proxy, stun, kind, tmp_path):
    look(opened(session, proxy.at("127.0.0.1"), kind, tmp_path))

    assert proxy.asked[0] == URL
    assert stun.datagrams == 0


def test_without_proxies_webrtc_works_as_ever(session, proxy, stun, wait_until):
    session.use_proxy(None)

    page = session.page_for_job()
    page.goto(f"http://127.0.0.1:{proxy.at(GATE).port}/")

    wait_until(lambda: page.wait_for_timeout(20) or stun.datagrams)


@needs_root
@KINDS
def test_no_name_is_looked_up_but_the_proxys_own(session, proxy, names, kind, tmp_path):
    look(opened(session, proxy.at(GATE), kind, tmp_path))

    assert proxy.asked[0] == URL
    assert names.asked == {GATE}
    # The proxy itself was asked to connect there instead.
    assert "turn.test:3478" in proxy.asked


@needs_root
def test_without_proxies_names_are_looked_up_here(session, proxy, names, wait_until):
    session.use_proxy(None)

    page = session.page_for_job()
    page.goto(f"http://shop.test:{proxy.at(GATE).port}/")

    wanted = {"shop.test", "turn.test"}
    wait_until(lambda: page.wait_for_timeout(20) or wanted <= names.asked)


def test_quic_is_not_spoken_at_all(session):
    """Chromium speaks it only where it goes out directly, so that is where it is tried."""
    session.use_proxy(None)
    session.page_for_job()
    with closing(UdpListener()) as site:
        origin = f"127.0.0.1:{site.port}"
        options = replace(session.options, launch_args=(f"--origin-to-force-quic-on={origin}",))
        browser = launch.launch_browser(session._engine.playwright, options)
        with pytest.raises(PlaywrightError, match="ERR_CONNECTION_REFUSED"):
            browser.new_page().goto(f"https://{origin}/", timeout=5000)
        browser.close()

        assert site.datagrams == 0


@KINDS
@pytest.mark.parametrize(
    "make",
    [
        lambda browser: browser.new_context().new_page(),
        lambda browser: browser.new_page(),
    ],
    ids=["new_context", "new_page"],
)
def test_what_a_task_opens_goes_through_the_proxy_too(session, proxy, stun, kind, make, tmp_path):
    page = opened(session, proxy.at("127.0.0.1"), kind, tmp_path)

    own = make(page.context.browser)
    look(own)
    own.context.request.get("http://api.test/")

    assert proxy.asked.count(URL) == 1
    assert "api.test:80" in proxy.asked
    assert stun.datagrams == 0


@pytest.mark.parametrize(
    "wish", [{"server": "direct://"}, {"server": "http://127.0.0.1:1"}, {"bypass": "*"}]
)
def test_a_task_asks_for_no_other_way_out(session, proxy, wish):
    own = proxy.at("127.0.0.1")
    session.use_proxy(own)
    browser = session.page_for_job().context.browser

    with pytest.raises(PageRefused, match="goes out through its job's proxy"):
        browser.new_context(proxy={"server": own.label} | wish)


def test_a_context_without_a_proxy_leads_nowhere(session, proxy):
    """Should one be made past all else, it does not go out directly."""
    session.use_proxy(proxy.at("127.0.0.1"))
    session.page_for_job()
    context = session._tabs._contexts.make()

    with pytest.raises(PlaywrightError, match="ERR_PROXY_CONNECTION_FAILED"):
        context.new_page().goto(f"http://127.0.0.1:{proxy.at(GATE).port}/")
    with pytest.raises(PlaywrightError, match=r"nightshift\.invalid"):
        context.request.get(f"http://127.0.0.1:{proxy.at(GATE).port}/")
    context.close()

    assert proxy.asked == []


def test_the_browser_is_started_anew_only_for_a_host_that_it_does_not_know(session, proxy):
    first, second = proxy.at("127.0.0.1"), proxy.at("localhost")
    session.use_proxy(None)
    session.way_out.expect(frozenset({"127.0.0.1"}))
    session.recycle()
    born = session.processes()[1]

    session.use_proxy(first)
    session.page_for_job().goto(URL)
    assert session.processes()[1] == born

    session.use_proxy(second)
    session.page_for_job().goto(URL)
    reborn = session.processes()[1]
    assert reborn != born

    session.use_proxy(first)
    session.page_for_job().goto(URL)
    assert session.processes()[1] == reborn
    assert proxy.asked.count(URL) == 3
