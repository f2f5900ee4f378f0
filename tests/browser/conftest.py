"""A small site on loopback with everything that goes wrong, and a browser for each test file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page

from worker.browser.failed_attempt import Failure
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.session import BrowserSession

PAGES = {
    "/": "<title>Home</title><h1>Hello</h1>",
    "/counting": """<title>-</title><script>
        localStorage.n = Number(localStorage.n || 0) + 1;
        sessionStorage.n = Number(sessionStorage.n || 0) + 1;
        document.title = [localStorage.n, sessionStorage.n, document.cookie].join();
        document.cookie = 'seen=1; path=/';
        </script>""",
    # The request holds the page up, and when it has been answered the page is busy for good.
    "/busy": """<title>Busy</title><script>setTimeout(() => {
        const request = new XMLHttpRequest();
        request.open('GET', '/is-busy', false);
        request.send();
        while (true);
        }, 50)</script>""",
    "/is-busy": "now",
    # Busy before the page has loaded, and busy again whenever it is interrupted.
    "/spinning": """<title>Spinning</title><h1>Hello</h1><script>
        setInterval(() => { while (true); }, 10); while (true);</script>""",
    "/alert": "<title>-</title><script>alert('hi'); document.title = 'after'</script>",
    "/confirm": "<title>-</title><script>document.title = String(confirm('sure?'))</script>",
    "/popup": "<title>Opener</title><script>window.open('/')</script>",
    "/spam": """<title>Spam</title><script>
        for (let i = 0; i < 1000; i++) console.log('line ' + i);
        console.error('\\u001b[31mred\\u0007 \\ud800 http://me:pw@h.test/?token=abc');
        setTimeout(() => { throw new Error('thrown later') }, 0);
        </script>""",
    "/huge": f"<title>Huge</title><div hidden>{'x' * 6_000_000}</div>",
    "/endless": "<title>Endless</title>" + "<p>some words here\n" * 160_000,
    "/tall": "<title>Tall</title><div style='height:100000px;width:9000px'>",
    "/fonts": """<title>Fonts</title>
        <style>@font-face { font-family: Late; src: url(/never) } h1 { font-family: Late }</style>
        <h1>Text</h1>""",
    "/frame": "<title>Frame</title><iframe src='/forbidden'></iframe>",
    "/missing-picture": "<title>P</title><img src='http://127.0.0.1:1/x.png?api_key=123'>",
    "/forbidden": "<title>No</title>Forbidden",
    "/download": "data",
    "/challenge": "<title>Just a moment...</title><script>window._cf_chl_opt = {}</script>",
    "/mitigated": "<title>Shop</title>",
    "/policy": "<title>Server error</title>We are sorry",
}
STATUS = {"/forbidden": 403, "/challenge": 403, "/policy": 503}
HEADERS = {
    "/challenge": {"Retry-After": "120"},
    "/mitigated": {"cf-mitigated": "challenge", "cf-ray": "8c1-FRA"},
    "/policy": {"Content-Security-Policy": "script-src /cdn-cgi/challenge-platform/ _cf_chl_opt"},
    "/": {"Set-Cookie": "session=topsecret; HttpOnly", "cf-ray": "8c0-FRA"},
}


class Site:
    """The running site: `url("/busy")` is the address of a page."""

    def __init__(self) -> None:
        self.closing = threading.Event()
        self.busy_pages = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_GET(self) -> None:
                site.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.partition("?")[0]
        if path == "/never":
            self.closing.wait()
            return
        if path == "/headers-only":
            request.send_response(200)
            request.send_header("Content-Type", "text/html")
            request.send_header("Content-Length", "1000")
            request.end_headers()
            request.wfile.flush()
            self.closing.wait()
            return
        self.busy_pages += path == "/is-busy"
        body = PAGES.get(path, "").encode()
        request.send_response(STATUS.get(path, 200 if path in PAGES else 404))
        if path == "/download":
            request.send_header("Content-Disposition", "attachment; filename=a.bin")
        for name, value in HEADERS.get(path, {}).items():
            request.send_header(name, value)
        request.send_header("Content-Type", "text/html; charset=utf-8")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


@pytest.fixture(scope="module")
def only_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserSession]:
    """Playwright's sync API runs once in a process, so the tests of a file share one session.

    It ends with them: until then no other test in this process could have one, nor a loop of
    asyncio's, and which tests follow is decided by how quick the other processes are.
    """
    folder = tmp_path_factory.mktemp("browser") / "worker-0"
    session = BrowserSession(
        BrowserOptions(tmp_dir=folder, executable=find_browser(), page_timeout_seconds=10)
    )
    yield session
    session.close()


@pytest.fixture
def session(only_session: BrowserSession) -> Iterator[BrowserSession]:
    """A running session; whatever a test does to it, the next one gets it working again."""
    if not only_session.is_alive:
        only_session.open()
    yield only_session
    only_session.release(clean=False)


@pytest.fixture
def failure() -> Failure:
    return Failure(
        job_id=4729,
        attempt=2,
        fence=17,
        task="visit",
        payload={"url": "http://me:pw@shop.test/?token=abc", "password": "hunter2"},
        outcome="retry",
        exception_type="TimeoutError",
        exception_message="Page.goto: Timeout 30000ms exceeded.",
        traceback="Traceback (most recent call last):\n  at http://me:pw@shop.test/\n",
        fingerprint="0123456789abcdef",
        worker_slot=3,
        incarnation=99,
        run_id="run-1",
        proxy="http://user:secret@proxy.test:8080",
    )


@pytest.fixture
def wait_until() -> Callable[[Callable[[], object]], None]:
    def wait(condition: Callable[[], object], seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "the condition never came true"
            time.sleep(0.02)

    return wait


@pytest.fixture
def open_busy_page(site: Site, wait_until) -> Callable[[Page], None]:
    """Open a page, and come back when it will never answer again."""

    def open_it(page: Page) -> None:
        before = site.busy_pages
        page.goto(site.url("/busy"))
        wait_until(lambda: site.busy_pages > before)

    return open_it


@pytest.fixture
def errors_dir(tmp_path: Path) -> Path:
    return tmp_path / "errors"


def wait_for_page_error(session, page) -> None:
    """Let the page go on until its error, the last thing it says, has been recorded."""
    deadline = time.monotonic() + 30
    while not any(entry["type"] == "pageerror" for entry in session.recorder.console):
        assert time.monotonic() < deadline, "the page's error was never recorded"
        page.wait_for_timeout(20)
