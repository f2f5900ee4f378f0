"""A proxy: scheme, host, port and login. Its text forms never show the password.

A proxy that cannot work (a scheme unknown to Chromium, a bad port) is refused when it is made, with
one line that repeats no credentials.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from worker.errors import UsageError

DEFAULT_PORTS = {"http": 80, "https": 443, "socks5": 1080}
# What a profile says instead of a proxy's name if it goes out directly; no proxy is called so.
DIRECT = "none"
EXPECTED = "write http://user:password@host:port (or https://, socks5://)"

_URL = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://"
    # Greedy up to the last @, so that a password may hold @ and : unescaped.
    r"(?:(?P<username>[^:@/]*)(?::(?P<password>.*))?@)?"
    r"(?P<host>\[[0-9a-f:.%]+\]|[^:/?#@\[\]\s]+)(?::(?P<port>[^/?#@]*))?/?",
    re.IGNORECASE | re.DOTALL,
)
_CONTROL = re.compile(r"[\x00-\x20\x7f]")


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where traffic goes through, and who we are there; `id` and `name` are the operator's."""

    scheme: str
    host: str
    port: int
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    region: str | None = None
    id: int | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if self.scheme not in DEFAULT_PORTS:
            known = ", ".join(DEFAULT_PORTS)
            raise UsageError(f"a proxy's scheme is one of {known}, not {self.scheme[:20]!r}")
        if not self.host or _CONTROL.search(self.host):
            raise UsageError(f"the proxy has no usable host; {EXPECTED}")
        if not 0 < self.port < 65536:
            raise UsageError(f"the proxy's port is not a number from 1 to 65535; {EXPECTED}")
        if self.scheme == "socks5" and self.username:
            raise UsageError(
                f"{self.label}: Chromium cannot log in to a SOCKS5 proxy; "
                "use the provider's HTTP port, or let it know this machine's address"
            )

    @classmethod
    def parse(
        cls, url: str, *, region: str | None = None, id: int | None = None, name: str | None = None
    ) -> Proxy:
        """Read `http://user:pass@host:port`; raises UsageError, which repeats none of it."""
        match = _URL.fullmatch(url.strip())
        if match is None:
            raise UsageError(f"the proxy is not understood; {EXPECTED}")
        scheme = match["scheme"].lower()
        port = match["port"] or str(DEFAULT_PORTS.get(scheme, 0))
        if scheme in DEFAULT_PORTS and not (port.isascii() and port.isdigit() and len(port) < 6):
            raise UsageError(f"the proxy's port is not a number from 1 to 65535; {EXPECTED}")
        if scheme not in DEFAULT_PORTS:
            raise UsageError(f"a proxy's scheme is one of {', '.join(DEFAULT_PORTS)}; {EXPECTED}")
        return cls(
            scheme=scheme,
            host=unquote(match["host"].strip("[]")).lower(),
            port=int(port),
            username=unquote(match["username"]) if match["username"] else None,
            password=unquote(match["password"]) if match["password"] else None,
            region=region,
            id=id,
            name=name,
        )

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Proxy:
        """Make a proxy of its row, credentials included."""
        return cls(
            scheme=row["scheme"],
            host=row["host"],
            port=row["port"],
            username=row["username"],
            password=row["password"],
            region=row["region"],
            id=row["id"],
            name=row["name"],
        )

    @property
    def label(self) -> str:
        """Scheme, host and port: safe for logs, evidence and screens."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def url(self) -> str:
        """Everything, credentials included: for whoever connects, never for a text."""
        if self.username is None:
            return self.label
        credentials = quote(self.username, safe="")
        if self.password is not None:
            credentials += f":{quote(self.password, safe='')}"
        return self.label.replace("://", f"://{credentials}@", 1)

    def as_playwright(self) -> dict[str, str]:
        """The proxy as Playwright wants it for a context or a launch; holds the credentials."""
        settings = {"server": self.label}
        if self.username is not None:
            settings |= {"username": self.username, "password": self.password or ""}
        return settings

    def __str__(self) -> str:
        return self.label
