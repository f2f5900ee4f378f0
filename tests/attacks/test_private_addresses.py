"""With `--deny-private` no page reaches this machine or its network, by whatever name or way."""

from __future__ import annotations

from contextlib import closing
from urllib.parse import quote

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.attacks import page_attacks
from tests.attacks.small_internet import PUBLIC, SmallInternet, Trap
from tests.browser.debug_browser import DebugBrowser
from tests.browser.recording_proxy import RecordingProxy
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.providers.spec import ProfileSpec
from worker.browser.session import BrowserSession
from worker.errors import PageRefused

hostile, run, session = page_attacks.hostile, page_attacks.run, page_attacks.session


@pytest.fixture(scope="module")
def only_session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser") / "worker-0"
    options = BrowserOptions(
        tmp_dir=folder, executable=find_browser(), page_timeout_seconds=10, deny_private=True
    )
    with closing(BrowserSession(options)) as session:
        yield session


@pytest.fixture
def trap():
    with closing(Trap()) as trap:
        yield trap


@pytest.fixture
def internet(hostile, monkeypatch):
    internet = SmallInternet(hostile.port)
    internet.install(monkeypatch)
    internet.names["shop.test"] = [PUBLIC]
    return internet


HOSTS = [
    *("127.0.0.1", "localhost", "LOCALHOST", "localhost.", "sub.localhost", "127.1", "127.9.8.7"),
    *("2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "0"),
    *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]"),
    *("127。0。0。1", "１２７.0.0.1", "user:word@127.0.0.1", "%31%32%37.0.0.1"),
]
# Nothing of ours listens there: that nobody even tries is seen by the small internet.
ELSEWHERE = [
    *("10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "168.63.129.16"),
    *("[fd00::1]", "[fe80::1]", "[fd00:ec2::254]", "[64:ff9b::a00:1]", "[2002:a00:1::]"),
]


@pytest.mark.parametrize("host", HOSTS)
def test_no_name_of_this_machine_is_opened(run, trap, host):
    with pytest.raises(PageRefused, match="--deny-private keeps pages from private addresses"):
        run(lambda page: page.goto(f"http://{host}:{trap.port}/"))

    assert trap.knocks == 0


@pytest.mark.parametrize("host", ELSEWHERE)
def test_no_address_of_its_network_is_tried(run, internet, host):
    with pytest.raises(PageRefused, match="--deny-private"):
        run(lambda page: page.goto(f"http://{host}/"))

    assert internet.connected == []


WAYS = {
    "picture": "<img src='http://{to}/'>",
    "script": "<script src='http://{to}/'></script>",
    "style": "<link rel=stylesheet href='http://{to}/'>",
    "frame": "<iframe src='http://{to}/'></iframe>",
    "object": "<object data='http://{to}/'></object>",
    "video": "<video src='http://{to}/' autoplay></video>",
    "fetch": "<script>fetch('http://{to}/', {{mode: 'no-cors'}})</script>",
    "beacon": "<script>navigator.sendBeacon('http://{to}/', 'x')</script>",
    "request": "<script>x = new XMLHttpRequest(); x.open('POST', 'http://{to}/');"
    " x.send('x')</script>",
    "events": "<script>new EventSource('http://{to}/')</script>",
    "websocket": "<script>new WebSocket('ws://{to}/')</script>",
    "secure websocket": "<script>new WebSocket('wss://{to}/')</script>",
    "prefetch": "<link rel=prefetch href='http://{to}/'><link rel=preconnect href='http://{to}/'>",
    "form": "<form id=go method=post action='http://{to}/'></form><script>go.submit()</script>",
    "popup": "<script>window.open('http://{to}/')</script>",
    "refresh": "<meta http-equiv=refresh content='0;url=http://{to}/'>",
    "worker": "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('http://{to}/')\"])))"
    "</script>",
    "WebRTC": "<script>c = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{to}'}},"
    " {{urls: ['turn:{to}?transport=tcp', 'turn:{to}'], username: 'u', credential: 'p'}}]}});"
    " c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o))</script>",
    "WebTransport": "<script>new WebTransport('https://{to}/').ready.catch(() => 0)</script>",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_nothing_on_a_page_reaches_this_machine(run, hostile, internet, trap, way):
    hostile.show("/page", way.format(to=f"127.0.0.1:{trap.port}"))

    def visit(page):
        page.goto("http://shop.test/page", wait_until="commit")
        page.wait_for_timeout(400)

    run(visit)

    assert "/page" in hostile.asked
    assert trap.knocks == 0


def test_a_public_page_is_opened_whole(run, hostile, internet):
    hostile.show("/part.css", "p {color: red}" + " " * 3_000_000)
    hostile.show("/shop", "<link rel=stylesheet href=/part.css><p>12</p>")

    def visit(page):
        page.goto("http://shop.test/shop")
        return page.inner_text("p")

    assert run(visit) == '"12"'
    assert set(internet.connected) == {PUBLIC}


def test_a_redirect_to_a_private_address_ends_the_job(run, hostile, internet, trap):
    hostile.redirect("/away", f"http://127.0.0.1:{trap.port}/")

    with pytest.raises(PageRefused, match=r"127\.0\.0\.1 is private"):
        run(lambda page: page.goto("http://shop.test/away"))
    assert trap.knocks == 0


def test_a_name_for_a_private_address_is_refused_and_named(run, internet, trap):
    internet.names["intra.test"] = ["127.0.0.1"]

    with pytest.raises(PageRefused, match=r"intra\.test is private \(127\.0\.0\.1\)"):
        run(lambda page: page.goto(f"http://intra.test:{trap.port}/"))
    assert trap.knocks == 0


def test_a_name_that_changes_its_address_gains_nothing(run, hostile, internet, trap):
    # Public for whoever checks, private for whoever asks once more, as in DNS rebinding.
    internet.names["fickle.test"] = [PUBLIC, "127.0.0.1"]
    hostile.show("/fickle", "<p>public</p>")

    def visit(page):
        page.goto("http://fickle.test/fickle")
        page.evaluate(f"fetch('http://fickle.test:{trap.port}/').catch(() => 0)")
        return page.inner_text("p")

    assert run(visit) == '"public"'
    assert internet.connected == [PUBLIC]
    assert trap.knocks == 0


@pytest.mark.parametrize(
    ("name", "answer", "code"),
    [("nobody.invalid", None, "ERR_NAME_NOT_RESOLVED"), ("shut.test", PUBLIC, "ERR_CONNECTION_")],
)
def test_a_site_that_cannot_be_reached_is_explained_as_without_the_guard(
    run, internet, closed_port, name, answer, code
):
    if answer is not None:
        internet.names[name] = [answer]
        internet._port = closed_port

    with pytest.raises(PlaywrightError, match=f"net::{code}"):
        run(lambda page: page.goto(f"http://{name}/"))


def test_behind_a_proxy_private_addresses_are_refused_before_it_is_asked(run, session, trap):
    proxy = RecordingProxy("night", "word")
    try:
        session.use_proxy(proxy.proxy)
        for host in ("127.0.0.1", "0x7f.1", "[::1]", "user:word@127.0.0.1", "localhost"):
            with pytest.raises(PageRefused, match="--deny-private"):
                run(lambda page, host=host: page.goto(f"http://{host}:{trap.port}/"))
            session.release(clean=False)
        inner = quote(f"<img src='http://10.0.0.1:{trap.port}/'>")
        assert run(lambda page: page.goto(f"data:text/html,{inner}") and None) == "null"
        assert proxy.seen == []
        assert run(lambda page: page.goto("http://shop.test/") and page.title())
        assert proxy.seen == ["http://shop.test/"]
    finally:
        session.use_proxy(None)
        proxy.close()
    assert trap.knocks == 0


def test_a_profile_on_this_machine_goes_the_same_way(run, session, trap, tmp_path):
    session.open_profile(ProfileSpec(7, "local", folder=tmp_path / "profile"))
    try:
        with pytest.raises(PageRefused, match="--deny-private"):
            run(lambda page: page.goto(f"http://127.0.0.1:{trap.port}/"))
    finally:
        session.close_profile()
    assert trap.knocks == 0


def test_a_browser_that_runs_elsewhere_is_not_sent_to_private_addresses(
    run, session, trap, tmp_path
):
    foreign = DebugBrowser(tmp_path / "foreign")
    try:
        session.open_profile(ProfileSpec(8, "cdp", endpoint=f"http://127.0.0.1:{foreign.port}"))
        with pytest.raises(PageRefused, match="--deny-private"):
            run(lambda page: page.goto(f"http://127.0.0.1:{trap.port}/"))
    finally:
        session.close_profile()
        foreign.stop()
    assert trap.knocks == 0


def test_a_run_denies_private_addresses_when_told_to(launch, queue, trap, hostile):
    denied = queue.enqueue("visit", {"url": f"http://127.0.0.1:{trap.port}/"})
    unknown = queue.enqueue("visit", {"url": "http://nobody.invalid/"}, max_attempts=2)

    run = launch("--workers", 1, "--deny-private", "--retry-delay", "1s")
    assert run.wait(60) == 0

    (attempt,) = queue.history(denied)
    assert (attempt["outcome"], attempt["cause"]) == ("error", "code")
    assert "127.0.0.1 is private, and --deny-private" in attempt["reason"]
    attempts = queue.history(unknown)
    assert [each["cause"] for each in attempts] == ["site", "site"]
    assert "ERR_NAME_NOT_RESOLVED" in attempts[0]["reason"]
    assert trap.knocks == 0
