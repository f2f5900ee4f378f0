"""A site on loopback that serves whatever a test puts on it, and keeps what it was asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """What a path answers."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class HostileSite:
    """`pages["/x"]` is what `url("/x")` shows: a text of HTML, or an Answer."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.pages: dict[str, str | Answer] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                site.asked.append(path)
                answer = site.pages.get(path, Answer(b"nothing here", 404))
                if isinstance(answer, str):
                    answer = Answer(answer.encode())
                self.send_response(answer.status)
                headers = {"Content-Type": "text/html; charset=utf-8", **answer.headers}
                headers.setdefault("Content-Length", str(len(answer.body)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def redirect(self, path: str, target: str) -> str:
        """Let a path lead elsewhere; return its URL."""
        self.pages[path] = Answer(b"", 302, {"Location": target})
        return self.url(path)

    def show(self, path: str, html: str) -> str:
        """Put a page there; return its URL."""
        self.pages[path] = html
        return self.url(path)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
