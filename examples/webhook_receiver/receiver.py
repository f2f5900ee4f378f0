"""Receive webhooks: verify the signature and the time, keep each event once, then say 200.

Deliveries come at least once, so an event that is known is answered like a new one. The answer
comes after the event is on disk: what was not answered is sent again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 32 * 1024 * 1024


class Refused(Exception):
    """The request was not made by who knows the secret, or not lately."""


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: float | None = None) -> None:
    """Raise Refused unless body and timestamp are signed with the secret and recent.

    Verify the raw bytes, before any parsing: the same JSON can be written in many ways.
    """
    timestamp = headers.get("Nightshift-Timestamp", "")
    expected = hmac.new(
        secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256
    ).hexdigest()
    # Several signatures may be given while a secret is being replaced; one must be right.
    given = headers.get("Nightshift-Signature", "").split(",")
    # compare_digest takes the same time for any wrong answer, and so tells nothing about it.
    if not any(
        hmac.compare_digest(f"v1={expected}".encode(), one.strip().encode()) for one in given
    ):
        raise Refused("the signature is wrong")
    if not timestamp.isdecimal() or abs((now or time.time()) - int(timestamp)) > TOLERANCE_SECONDS:
        raise Refused("the timestamp is too far from now")


class Inbox:
    """Events on disk, each once, in the order they came."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with closing(self._connect()) as db, db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY,"
                " event_id TEXT UNIQUE NOT NULL, job_id INTEGER, body TEXT NOT NULL)"
            )

    def add(self, event: dict[str, Any]) -> bool:
        """Keep an event; False when it was here before."""
        # The end of a batch has no job.
        row = (event["event_id"], event.get("job_id"), json.dumps(event))
        with closing(self._connect()) as db, db:
            added = db.execute(
                "INSERT OR IGNORE INTO events (event_id, job_id, body) VALUES (?, ?, ?)", row
            )
            return added.rowcount == 1

    def events(self) -> list[dict[str, Any]]:
        """Return everything that has come, oldest first."""
        with closing(self._connect()) as db:
            rows = db.execute("SELECT body FROM events ORDER BY number").fetchall()
        return [json.loads(body) for (body,) in rows]

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=5)


class Handler(BaseHTTPRequestHandler):
    """One POST is one event."""

    secret: str
    inbox: Inbox
    timeout = 10

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.send_error(413 if length.isdecimal() else 411)
            return
        body = self.rfile.read(int(length))
        try:
            verify(self.secret, self.headers, body)
        except Refused as refusal:
            # No 2xx, so it would come again; no 410, which would end it for good.
            self.send_error(401, str(refusal))
            return
        event = json.loads(body)
        if self.inbox.add(event):
            about = f"job {event['job_id']}" if "job_id" in event else f"batch {event['batch']}"
            print(f"{about}: {event['event']}", flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet: the events are on stdout."""


@contextmanager
def serve(secret: str, inbox: Inbox, port: int = 0) -> Iterator[str]:
    """Receive on 127.0.0.1 while the block runs; yields the URL to call back."""
    handler = type("BoundHandler", (Handler,), {"secret": secret, "inbox": inbox})
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/nightshift"
        finally:
            server.shutdown()
            thread.join()
