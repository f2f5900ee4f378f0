"""One HTTP request and its answer: limited in time and size as a whole, and never led elsewhere.

Redirects are not followed, since they would carry credentials along; proxy variables are ignored.
However slowly a server drips its answer, the connection is cut when the time is over.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from worker.browser.providers.answer import Answer
from worker.browser.providers.endpoint import label
from worker.retry_after import retry_after_seconds

if TYPE_CHECKING:
    # Few runs need it, and its import takes 40 ms, for which every worker would wait.
    import httpx

CONNECT_SECONDS = 5.0
LEAST_SECONDS = 0.5
MAX_BODY_BYTES = 4_000_000


def no_answer() -> tuple[type[Exception], ...]:
    """List whatever keeps an answer from coming."""
    import httpx

    return (httpx.HTTPError, httpx.InvalidURL, OSError)


def exchange(
    method: str,
    url: str,
    *,
    json: Mapping[str, Any] | None,
    headers: Mapping[bytes, bytes],
    cutter: Cutter,
) -> Answer:
    """Send a request and read its answer; raises one of `no_answer()` when none comes in time."""
    import httpx

    left = cutter.seconds
    timeout = httpx.Timeout(left, connect=min(left, CONNECT_SECONDS))
    # What is packed might unpack to anything.
    sent = {b"accept-encoding": b"identity", **headers}
    with httpx.Client(trust_env=False, timeout=timeout) as client, cutter:
        request = client.build_request(
            method, url, json=json, headers=sent, extensions={"trace": cutter.see}
        )
        try:
            answer = _read(client.send(request, stream=True))
        except httpx.HTTPError:
            if not cutter.has_cut:
                raise
            answer = None
        if answer is None or cutter.has_cut:
            raise httpx.ReadTimeout("the whole answer took too long")
        return answer


class Cutter:
    """Cuts the connection of one request when its time is over, whatever it waits for then."""

    def __init__(self, deadline: float) -> None:
        self.seconds = max(LEAST_SECONDS, deadline - time.monotonic())
        self.has_cut = False
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(self.seconds, self.cut)
        self._timer.daemon = True

    def __enter__(self) -> Cutter:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def see(self, event: str, facts: Mapping[str, Any]) -> None:
        """Get hold of the connection; the client tells of each of its steps."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = facts["return_value"].get_extra_info("socket")
            if self.has_cut:
                self.cut()

    def cut(self) -> None:
        """End the request; from any thread."""
        self.has_cut = True
        if self._socket is not None:
            with suppress(OSError):
                # Beneath TLS: whoever reads must get no half-closed channel.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _read(response: httpx.Response) -> Answer:
    content = bytearray()
    with closing(response):
        for chunk in response.iter_raw():
            content += chunk
            if len(content) > MAX_BODY_BYTES:
                break
    body = content[:MAX_BODY_BYTES].decode("utf-8", "replace")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    wait = retry_after_seconds(response.headers.get("retry-after", ""))
    return Answer(response.status_code, body, data, wait, _leads_to(response))


def _leads_to(response: httpx.Response) -> str | None:
    if not response.has_redirect_location:
        return None
    return label(urljoin(str(response.url), response.headers["location"]))
