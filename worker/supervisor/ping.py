"""Tell a service such as Healthchecks that a run has begun, and how it ended.

A ping is sent by a child: the launcher never waits for a network but at its end, and there for
seconds. A ping that fails changes nothing about the run. Its URL is a secret.
"""

from __future__ import annotations

import uuid
from urllib.parse import urlencode, urlsplit, urlunsplit

from worker.evidence import known_secrets
from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import printable
from worker.system.fork import fork, wait_for

TIMEOUT_SECONDS = 3.0
# How long the end of a run waits for its last ping.
MAX_WAIT_SECONDS = 4.0
# Healthchecks keeps up to 100 kB.
MAX_BODY = 20_000


class Ping:
    """The pings of one run; without a URL there are none."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._rid = str(uuid.uuid4())
        if url is not None:
            # From now on, here and in every child: whoever knows it can say that all is well.
            known_secrets.keep([url, urlsplit(url).path.strip("/")])

    def start(self) -> None:
        """Say that a run begins; nobody waits for the answer."""
        self._send("/start")

    def end(self, exit_code: int, summary: str) -> None:
        """Say how the run ended: success for 0, its exit code otherwise."""
        _wait(self._send(f"/{exit_code}" if exit_code else "", summary))

    def fail(self, reason: str) -> None:
        """Say that the run broke off."""
        _wait(self._send("/fail", reason))

    def _send(self, suffix: str, body: str = "") -> int | None:
        if self._url is None:
            return None
        url = address(self._url, suffix, self._rid)
        text = printable(redact_text(body))[:MAX_BODY]
        try:
            return fork(lambda: _post(url, text))
        except OSError:
            return None


def address(url: str, suffix: str, rid: str) -> str:
    """Put a suffix behind the path of a ping URL, and the run's own number into its query."""
    parts = urlsplit(url)
    query = "&".join(filter(None, (parts.query, urlencode({"rid": rid}))))
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + suffix, query=query))


def _post(url: str, body: str) -> int:
    # Here, not above: a launcher without a ping URL does without the HTTP client.
    import httpx

    try:
        httpx.post(url, content=body.encode("utf-8", "replace"), timeout=TIMEOUT_SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL):
        return 1
    return 0


def _wait(pid: int | None) -> None:
    """Wait for a child for a few seconds; then end it."""
    if pid is not None:
        wait_for(pid, MAX_WAIT_SECONDS)
