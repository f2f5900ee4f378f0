"""A failure's page as its evidence holds it: what it was, and which requests it was the answer to.

The HTML is the page as it stood when the attempt failed, masked as all evidence is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from worker.evidence.files import facts_of
from worker.evidence.known_secrets import MASK
from worker.evidence.redaction import redact_url

PAGE = "page.html"
# With these a page has no document of its own to show.
_NO_DOCUMENT = frozenset({204, 205, 304})
# Answer headers from which the pool itself draws conclusions.
_TELLING = frozenset({"cf-mitigated", "retry-after", "x-datadome"})
_CUT = b"<!-- cut here: the page had "


@dataclass(frozen=True, slots=True)
class CapturedPage:
    """A page to be shown again."""

    html: bytes = field(repr=False)
    url: str
    status: int
    method: str
    # Addresses without fragment and secrets, as evidence holds them; empty if nobody noted them.
    addresses: frozenset[str]
    headers: dict[str, str] = field(default_factory=dict)
    is_cut: bool = False

    def answers(self, method: str, url: str) -> bool:
        """Whether this page was, or may have been, the answer to such a request."""
        if not self.addresses:
            return True
        return method in ("GET", self.method) and address(url) in self.addresses

    def leads_from(self, url: str) -> bool:
        """Whether this address led to the page by redirects, and the page's own is known whole."""
        is_known = bool(self.addresses) and MASK not in self.url
        return is_known and address(url) != address(self.url) and self.answers("GET", url)


def read(folder: Path) -> CapturedPage | str:
    """Read the page out of a folder of evidence, or say why there is none."""
    facts = facts_of(folder)
    try:
        html = (folder / PAGE).read_bytes()
    except OSError:
        captured = facts.get("captured")
        why = captured.get("html") if isinstance(captured, dict) else None
        return f"its evidence has no page ({why})" if why else f"there is no page in {folder}"
    document = facts.get("document")
    asked = document if isinstance(document, dict) else {}
    found = [asked.get("asked"), asked.get("url"), facts.get("final_url") if asked else None]
    status, kept = facts.get("status"), facts.get("response_headers")
    return CapturedPage(
        html=html,
        url=_text(facts.get("final_url")),
        status=status if isinstance(status, int) and _has_document(status) else 200,
        method=_text(asked.get("method")) or "GET",
        addresses=frozenset(address(url) for url in found if isinstance(url, str) and url),
        headers=_telling(kept),
        is_cut=_CUT in html[-200:],
    )


def address(url: str) -> str:
    """Write an address as evidence holds it: masked, without its fragment, with a path."""
    try:
        parts = urlsplit(redact_url(url.strip()))
    except ValueError:
        return url
    return urlunsplit(
        (parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query, "")
    )


def _has_document(status: int) -> bool:
    return 200 <= status < 600 and status not in _NO_DOCUMENT and not 300 <= status < 400


def _telling(headers: Any) -> dict[str, str]:
    if not isinstance(headers, dict):
        return {}
    return {
        name: value
        for name, value in headers.items()
        if name in _TELLING and isinstance(value, str) and MASK not in value
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
