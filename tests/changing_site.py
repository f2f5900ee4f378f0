"""A shop on loopback whose pages a test changes between two visits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
TRIES = 5
GOOD = """<!doctype html><title>Lamp</title><h1>Lamp</h1>
<p class="price">€ 189.00</p><button id="buy">Add to basket</button>"""
CHANGED = """<!doctype html><title>Lamp</title><h1>Winter sale</h1>
<div class="offer"><p class="product-price">€ 149.00</p></div><button id="buy">Buy</button>"""


class ChangingSite:
    """Answers every address with `body`."""

    def __init__(self) -> None:
        self.body = GOOD
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = site.body.encode("utf-8", "replace")
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def served(self) -> Iterator[ChangingSite]:
        """Be there meanwhile."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


def until_kept(errors_dir: Path, visit: Callable[[], T]) -> T:
    """Visit until a good page is kept: on a busy machine a page may not answer in time for that."""
    for _ in range(TRIES):
        found = visit()
        if any(errors_dir.glob("good/*/*/good.json")):
            return found
    raise AssertionError(f"no good page was kept of {TRIES} visits")
