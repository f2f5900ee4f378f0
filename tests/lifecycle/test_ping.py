"""A run tells a Healthchecks-like receiver that it began and how it ended, and never waits long."""

from __future__ import annotations

import threading
import time
import uuid
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

SECRET = "5f0c2d9e-0b1a-4c55-8d77-hush-hush"


@contextmanager
def receiver(answer=lambda: None):
    """Take pings; each is its path, its rid and its body."""
    pings = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            parts = urlsplit(self.path)
            pings.append((parts.path, parse_qs(parts.query)["rid"][0], body))
            answer()
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{SECRET}", pings
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_good_run_says_start_and_success_with_its_summary(launch, database):
    with receiver() as (url, pings):
        run = launch("--workers", 1, NIGHTSHIFT_PING_URL=url)
        assert run.wait() == 0

    (start, rid, _), (end, same, body) = pings
    assert (start, end) == (f"/{SECRET}/start", f"/{SECRET}")
    assert rid == same == str(uuid.UUID(rid))
    assert "drained after" in body
    assert "left: nothing" in body
    assert SECRET not in run.output


def test_a_run_that_cannot_begin_says_its_exit_code(launch, closed_port):
    away = f"mysql://nobody@127.0.0.1:{closed_port}/nightshift"
    with receiver() as (url, pings):
        run = launch("--workers", 1, NIGHTSHIFT_PING_URL=url, DATABASE_URL=away)
        assert run.wait() == 69

    assert [path for path, _, _ in pings] == [f"/{SECRET}/69"]
    assert SECRET not in run.output


@pytest.mark.parametrize("kind", ["closed", "silent"])
def test_a_receiver_that_does_not_answer_matters_to_nobody(launch, database, closed_port, kind):
    release = threading.Event()
    with receiver(lambda: release.wait(30)) as (silent, _):
        url = silent if kind == "silent" else f"http://127.0.0.1:{closed_port}/{SECRET}"
        began = time.monotonic()
        run = launch("--workers", 1, "--quiet", NIGHTSHIFT_PING_URL=url)
        code = run.wait()
        took = time.monotonic() - began
        release.set()

    assert (code, run.output) == (0, "")
    assert took < 15


def test_a_wrong_url_is_refused_without_being_repeated(launch):
    run = launch("--ping-url", f"htp://x/{SECRET}")

    assert run.wait() == 2
    assert "--ping-url" in run.stderr
    assert SECRET not in run.output
