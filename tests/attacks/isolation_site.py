"""A site that leaves traces in a browser in every way it knows, and tells who comes with them."""

from __future__ import annotations

import base64
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

LOGIN = "Basic " + base64.b64encode(b"ann:secret").decode()
PATIENCE_SECONDS = 10.0
HINTS = ("sec-ch-ua-full-version-list", "sec-ch-ua-arch", "sec-ch-viewport-width", "device-memory")
WANTED = {"Accept-CH": "Sec-CH-UA-Full-Version-List, Sec-CH-UA-Arch, Device-Memory"}

PAGES = {
    "/": "<title>Page</title><h1>Page</h1>",
    "/one": "<title>One</title>",
    "/two": "<title>Two</title>",
    "/typing": "<title>T</title><input autofocus><script>document.querySelector('input').focus()"
    "</script>",
    "/mouse": "<title>M</title><script>addEventListener('mousemove', event => {"
    "document.title = 'buttons ' + event.buttons })</script>",
    "/storing": """<title>S</title><script>
        document.cookie = 'stored=1; max-age=1000'; localStorage.stored = 1;
        sessionStorage.stored = 1; indexedDB.open('stored');
        caches.open('stored').then(cache => cache.put('/x', new Response('x')))
            .then(() => { document.title = 'stored' });
        </script>""",
    "/worker": """<title>W</title><script>navigator.serviceWorker.register('/worker.js')
        .then(() => navigator.serviceWorker.ready).then(() => { document.title = 'registered' })
        </script>""",
    "/keepalive": "<title>K</title><script>fetch('/late-cookie', {keepalive: true})</script>",
    "/late-last-words": """<title>L</title><script>addEventListener('pagehide', () => {
        fetch('/late-cookie', {keepalive: true}) })</script>""",
    "/last-words": """<title>L</title><script>addEventListener('pagehide', () => {
        navigator.sendBeacon('/beacon'); document.cookie = 'pagehide=1'; localStorage.pagehide = 1;
        })</script>""",
    "/restless": """<title>R</title><script>setInterval(() => {
        document.cookie = 'restless=1'; localStorage.restless = 1; fetch('/?restless');
        }, 5)</script>""",
    "/copying": """<title>C</title><b contenteditable>of A</b><script>
        document.querySelector('b').focus();
        addEventListener('click', () => {
            addEventListener('copy', event => {
                event.clipboardData.setData('text/html', '<i>of A</i>');
                event.clipboardData.setData('text/plain', 'of A'); event.preventDefault() });
            if (document.execCommand('copy')) document.title = 'copied' })</script>""",
    "/pasting": "<title>P</title><input><div contenteditable></div>",
    "/hints-wanted-by-tag": "<meta http-equiv=Accept-CH content='Sec-CH-UA-Full-Version-List,"
    "Sec-CH-UA-Arch, Viewport-Width, Device-Memory'><title>H</title>",
    "/noisy": "<title>N</title><script>console.log('said by A'); throw Error('of A')</script>",
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        site = self.server.site
        path = urlsplit(self.path).path
        site.restless_requests += self.path == "/?restless"
        special = {
            "/private": self._private,
            "/cached": self._cached,
            "/tagged": self._tagged,
            "/late-cookie": self._late_cookie,
            "/until-asked": lambda: self._answer(str(site.is_asked.wait(PATIENCE_SECONDS))),
            "/let-late-go": self._let_late_go,
            "/hints": self._hints,
            "/hints-wanted": lambda: self._answer("<title>H</title>", **WANTED),
            "/hints-wanted-elsewhere": lambda: self._answer("", 302, Location="/", **WANTED),
            "/cookies": lambda: self._answer(self.headers.get("Cookie", "none")),
        }
        if path in special:
            special[path]()
        elif path == "/worker.js":
            self._answer("addEventListener('fetch', () => {})", kind="text/javascript")
        else:
            self._answer(PAGES.get(path, ""), 200 if path in PAGES else 404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer("", cookie="beacon=1")

    def _private(self) -> None:
        if self.headers.get("Authorization") == LOGIN:
            self._answer("<title>private</title>")
        else:
            self._answer("who?", 401, **{"WWW-Authenticate": 'Basic realm="night"'})

    def _cached(self) -> None:
        number = next(self.server.site.numbers)
        self._answer(f"<title>copy {number}</title>", **{"Cache-Control": "max-age=3600"})

    def _tagged(self) -> None:
        came_with = self.headers.get("If-None-Match", "none")
        headers = {"Cache-Control": "no-cache", "ETag": '"ann"'}
        self._answer(f"<title>came with {came_with}</title>", **headers)

    def _hints(self) -> None:
        came_with = [name for name in self.headers if name.lower() in HINTS]
        self._answer(f"<title>{', '.join(came_with) or 'no hints'}</title>")

    def _late_cookie(self) -> None:
        site = self.server.site
        site.is_asked.set()
        site.may_answer.wait(PATIENCE_SECONDS)
        self._answer("", cookie="late=1")
        self.wfile.flush()
        site.has_answered.set()

    def _let_late_go(self) -> None:
        """Answer only after the request of the job before, if that is still there, is answered."""
        site = self.server.site
        if site.is_asked.is_set():
            site.may_answer.set()
            site.has_answered.wait(PATIENCE_SECONDS)
        self._answer("<title>after</title>")

    def _answer(
        self, text: str, status: int = 200, *, kind: str = "text/html", cookie: str = "", **headers
    ) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(text.encode())))
            if cookie:
                self.send_header("Set-Cookie", f"{cookie}; Max-Age=1000")
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())
            self.wfile.flush()
        except OSError:
            # The browser has given the request up.
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    site: IsolationSite


class IsolationSite:
    """The running site; `reset` before each pair of jobs."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        # How often the page that never rests has asked for something.
        self.restless_requests = 0
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.site = self
        # By name, because passkeys and workers want one; every browser takes it for this machine.
        self.url = f"http://localhost:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.reset()

    def reset(self) -> None:
        """Know of no late request."""
        self.is_asked = threading.Event()
        self.may_answer = threading.Event()
        self.has_answered = threading.Event()

    @contextmanager
    def serving(self) -> Iterator[IsolationSite]:
        """Answer meanwhile."""
        self._thread.start()
        try:
            yield self
        finally:
            self.may_answer.set()
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
