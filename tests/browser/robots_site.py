"""A site with a robots.txt that tests choose, which remembers who asked it for what."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RULES = "User-agent: *\nDisallow: /private\n\nUser-agent: AcmeBot\nDisallow: /\n"
PAGE = """<title>Page</title><a id="link" href="/private/link">private</a>
<form action="/private/form"><button>Go</button></form><img src="/private/picture.png">"""


class RobotsSite:
    """The running site; what `robots` says may be changed at any time."""

    def __init__(self) -> None:
        self.robots: str | None = RULES
        self.status = 200
        self.headers: dict[str, str] = {"Content-Type": "application/octet-stream"}
        # Pieces that follow for ever, with this pause between them.
        self.endless: float | None = None
        self.asked: list[tuple[str, str | None]] = []
        self.agents: set[str] = set()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.asked.append((self.path, self.headers["Cookie"]))
                site.agents.add(self.headers["User-Agent"])
                try:
                    site.answer(self)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self._is_closing = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path, status, body = request.path, 200, PAGE
        headers = {"Content-Type": "text/html", "Set-Cookie": "seen=1"}
        if path == "/robots.txt":
            status, body, headers = self.status, self.robots or "", self.headers
            if self.endless is not None:
                return self._trickle(request)
        elif path.startswith("/to/"):
            status, body, headers = 302, "", {"Location": path.removeprefix("/to")}
        elif path == "/rules":
            body = RULES
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body.encode())
        return None

    def _trickle(self, request: BaseHTTPRequestHandler) -> None:
        assert self.endless is not None
        request.close_connection = True
        request.send_response(200)
        request.end_headers()
        request.wfile.write(RULES.encode())
        piece = b"# more\n" * (10_000 if self.endless == 0 else 1)
        while not self._is_closing.is_set():
            request.wfile.write(piece)
            time.sleep(self.endless)

    def close(self) -> None:
        self._is_closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
