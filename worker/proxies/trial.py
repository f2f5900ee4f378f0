"""Test a proxy: load a page through it and report the result, without its login.

Whether a refused login is the proxy's word or the site's is found out by asking the proxy for a
name that does not exist. A page that says nothing but the caller's address tells what sites see.
"""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worker.errors import UsageError
from worker.evidence.known_secrets import KnownSecrets
from worker.evidence.redaction import redact_text
from worker.proxies.proxy import Proxy

if TYPE_CHECKING:
    # Few runs need it, and its import takes 40 ms, for which every worker would wait.
    import httpx

TRIAL_URL = "https://example.com/"
TRIAL_SECONDS = 15.0
TRIALS_AT_ONCE = 16
# A name that never exists: the proxy answers for it by itself, and nobody else is asked.
NOBODY_URL = "http://nightshift.invalid/"
LOGIN_SECONDS = 5.0
LOGIN_REFUSED = 407
# A few proxies refuse a login as if they were a site.
LOGIN_REFUSALS = (401, LOGIN_REFUSED)
# More is not read of a page: one that tells the caller's address is short.
MAX_PAGE_BYTES = 2000
_ADDRESS_FIELDS = ("ip", "origin", "query", "address", "ip_addr")
_REFUSED_BY_STATUS = re.compile(r"(\d{3})\b")

_SOCKS_REFUSALS = {
    1: "general failure",
    2: "not allowed",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "took too long",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """How one test of a proxy went; `problem` is None when it went well."""

    proxy: Proxy
    took_ms: int
    status: int | None = None
    problem: str | None = None
    # What sites see, if the page told.
    exit_address: str | None = None

    @property
    def is_refused_by_site(self) -> bool:
        """Whether it is the site behind the proxy that wants a login."""
        return self.problem is None and self.status in LOGIN_REFUSALS


def try_all(
    proxies: list[Proxy], url: str = TRIAL_URL, seconds: float = TRIAL_SECONDS
) -> Iterator[Trial]:
    """Try several at once; raises UsageError for a URL that cannot be asked for."""
    target = _target(url)
    with ThreadPoolExecutor(TRIALS_AT_ONCE) as pool:
        yield from pool.map(lambda proxy: _try(proxy, target, seconds), proxies)


def refuses_login(proxy: Proxy, seconds: float = LOGIN_SECONDS) -> bool:
    """Ask a proxy itself whether it refuses the login; one that cannot be asked is taken to."""
    if proxy.scheme == "socks5":
        # It speaks no HTTP, and we never log in to one.
        return False
    import httpx

    try:
        status, _ = _ask(proxy, httpx.URL(NOBODY_URL), seconds)
    except (httpx.HTTPError, OSError):
        return True
    return status in LOGIN_REFUSALS


def _target(url: str) -> httpx.URL:
    import httpx

    try:
        target = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise UsageError(f"--url is not a URL ({error}); write https://example.com/") from None
    if target.scheme not in ("http", "https") or not target.host:
        raise UsageError("--url cannot be loaded; write https://example.com/")
    return target


def _try(proxy: Proxy, target: httpx.URL, seconds: float) -> Trial:
    import httpx

    began = time.monotonic()
    status, problem, page = None, None, b""
    try:
        if proxy.scheme == "socks5":
            problem = _reach_by_socks(proxy, target, seconds)
        else:
            status, page = _ask(proxy, target, seconds)
    except httpx.ProxyError as error:
        # Only the proxy itself answers to CONNECT.
        refusal = _REFUSED_BY_STATUS.match(str(error))
        code = int(refusal[1]) if refusal else None
        problem = _refuses(code) if code in LOGIN_REFUSALS else _said(error, proxy)
    except (httpx.HTTPError, OSError) as error:
        problem = _said(error, proxy)
    took_ms = round((time.monotonic() - began) * 1000)
    if status in LOGIN_REFUSALS and refuses_login(proxy, seconds):
        problem = _refuses(status)
    return Trial(proxy, took_ms, status, problem, _address_in(page) if status == 200 else None)


def _refuses(status: int | None) -> str:
    return f"it refuses the login (HTTP {status})"


def _address_in(page: bytes) -> str | None:
    """Read the caller's address off a page that says it, plainly or as JSON."""
    text = page.decode("utf-8", "replace").strip()
    try:
        facts = json.loads(text)
    except ValueError:
        facts = text
    if isinstance(facts, dict):
        facts = next((facts[name] for name in _ADDRESS_FIELDS if name in facts), "")
    try:
        return str(ipaddress.ip_address(str(facts).strip()))
    except ValueError:
        return None


def _ask(proxy: Proxy, target: httpx.URL, seconds: float) -> tuple[int, bytes]:
    """Load the beginning of a page; return its status, and what there is of it."""
    import httpx

    # Without trust_env no proxy of the environment gets between us and the one under test.
    with (
        httpx.Client(proxy=proxy.url, timeout=seconds, trust_env=False) as client,
        client.stream("GET", target) as answer,
    ):
        page = b""
        for chunk in answer.iter_bytes(MAX_PAGE_BYTES):
            page += chunk
            break
        return answer.status_code, page


def _reach_by_socks(proxy: Proxy, target: httpx.URL, seconds: float) -> str | None:
    """Have the proxy connect to the target's host, and say what it answered if it did not."""
    host = target.host.encode("idna")
    port = target.port or (443 if target.scheme == "https" else 80)
    with socket.create_connection((proxy.host, proxy.port), seconds) as link:
        link.settimeout(seconds)
        # Version 5, one way to log in: none.
        link.sendall(b"\x05\x01\x00")
        if link.recv(2) != b"\x05\x00":
            return "it is not a SOCKS5 proxy, or it wants a login"
        # Connect to a host given by its name.
        link.sendall(b"\x05\x01\x00\x03" + bytes([len(host)]) + host + port.to_bytes(2, "big"))
        answer = link.recv(10)
    if len(answer) < 2 or answer[1] != 0:
        code = answer[1] if len(answer) > 1 else 1
        return f"it does not reach {target.host}: {_SOCKS_REFUSALS.get(code, f'code {code}')}"
    return None


def _said(error: Exception, proxy: Proxy) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    login = KnownSecrets([part for part in (proxy.password, proxy.username) if part])
    return redact_text(text, login)[:255]
