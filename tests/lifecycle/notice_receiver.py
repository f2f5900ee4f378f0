"""Somebody who is told: a receiver of Apprise's `json://` messages on 127.0.0.1."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "tk0hushhush4c55b1a"


@dataclass(frozen=True)
class Heard:
    """One message, as it arrived."""

    title: str
    body: str
    kind: str
    pictures: list[bytes]

    @property
    def what(self) -> str:
        """The title without the machine's name."""
        return self.title.partition(": ")[2]


@contextmanager
def receiver(answer: Callable[[], None] = lambda: None) -> Iterator[tuple[str, list[Heard]]]:
    """Take messages; yield the URL to send them to, which holds a secret, and what has come."""
    heard: list[Heard] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            files = [base64.b64decode(each["base64"]) for each in sent.get("attachments", [])]
            assert self.path == f"/{SECRET}"
            answer()
            self.send_response(200)
            self.end_headers()
            heard.append(Heard(sent["title"], sent["message"], sent["type"], files))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"json://127.0.0.1:{server.server_port}/{SECRET}", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
