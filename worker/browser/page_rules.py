"""Where pages may go and what they may do: the rules of every job, and what its task allows.

Only rules: who keeps pages to them is `page_guard.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from worker.evidence.redaction import redact_url
from worker.evidence.terminal_text import printable

# What a browser shows without looking at this machine or at its own insides.
SCHEMES = ("http", "https", "data", "blob")
PLACES = ("about:blank", "about:srcdoc")
# Where Chromium itself puts a page whose navigation failed.
ERROR_PAGE = "chrome-error"
MAX_SHOWN = 200

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{0,60}):", re.IGNORECASE)
# Browsers drop these wherever they stand, and controls and blanks at the start.
_DROPPED = re.compile(r"^[\x00-\x20]+|[\t\r\n]")
# Playwright puts `http://` before these.
_COMPLETED = ("localhost", "127.0.0.1")


@dataclass(frozen=True, slots=True)
class PageRules:
    """What one job's pages may do: schemes beyond the usual ones, and downloads."""

    schemes: tuple[str, ...] = ()
    downloads: bool = False

    def why_not(self, url: str) -> str | None:
        """Say why a page may not be at this address; None when it may."""
        plain = _DROPPED.sub("", url)[:MAX_SHOWN]
        found = _SCHEME.match(plain)
        if found is None or plain.startswith(_COMPLETED):
            # Relative to where the page is, or nothing that a browser opens.
            return None
        scheme = found[1].lower()
        if scheme in SCHEMES or scheme in self.schemes or scheme == ERROR_PAGE:
            return None
        if re.split("[?#]", plain.lower())[0] in PLACES:
            return None
        allowed = ", ".join((*SCHEMES, *self.schemes))
        return (
            f"{shown(url)} is not opened: pages may go to {allowed} and about:blank; "
            f'a task that needs more says so: @task(…, schemes=("{scheme}",))'
        )


def shown(url: str) -> str:
    """Write an address for people: without secrets, at a readable length."""
    text = printable(redact_url(_DROPPED.sub("", url)[: MAX_SHOWN * 4]))
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
