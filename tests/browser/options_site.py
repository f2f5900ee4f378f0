"""A site that notes what it is asked for, and answers with pages full of things to load."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = {
    "/": """<title>Shop</title><link rel=stylesheet href=/s.css><script src=/j.js></script>
        <img src=/a.png><iframe src=/frame></iframe>""",
    "/frame": "<title>Frame</title><img src=/in-frame.png>",
    "/popup": "<title>Popup</title><img src=/in-popup.png>",
    "/seen": """<title>-</title><script>
        document.title = document.cookie + ',' + (localStorage.seen || '')</script>""",
    "/worker": """<title>Worker</title><script>
        navigator.serviceWorker.register('/w.js').then(() => navigator.serviceWorker.ready)
            .then(() => document.title = 'ready')</script>""",
    "/w.js": """oninstall = event => event.waitUntil(
        Promise.all([fetch('/by-worker').catch(() => 0), fetch('/blocked').catch(() => 0)]))""",
    "/fetching": """<title>-</title><script>
        fetch('/data').then(() => 'came', () => 'failed').then(word => document.title = word)
        </script>""",
}
SCRIPTS = (".js",)
HEADERS = ("user-agent", "accept-language", "authorization", "x-team")


class OptionsSite:
    """The running site; two names lead to it, of which one may be blocked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.headers: dict[str, str] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self._server.server_port}{path}"

    def forget(self) -> None:
        self.asked.clear()
        self.headers.clear()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.partition("?")[0]
        if path != "/favicon.ico":
            self.asked.append(path)
            found = {name: request.headers[name] for name in HEADERS if name in request.headers}
            self.headers = found if path == "/" else self.headers
        body = PAGES.get(path, "").encode()
        request.send_response(200)
        kind = "text/javascript" if path.endswith(SCRIPTS) else "text/html; charset=utf-8"
        request.send_header("Content-Type", kind)
        request.send_header("Cache-Control", "max-age=600")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
