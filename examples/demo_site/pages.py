"""The pages that make up the demo queue, and how each of them should end.

What a page is meant to do stands here and never in a payload: a worker learns it the hard way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from examples.demo_site.shop import PRODUCTS

Kind = Literal["good", "slow", "flaky", "failing", "hanging", "blocked", "odd"]
Expect = Literal["done", "error"]

# The site listens on 127.0.0.1 alone, so its own port refuses connections on this neighbour.
REFUSING_HOST = "127.0.0.2"


@dataclass(frozen=True, slots=True)
class DemoPage:
    """One page of the demo queue; `host` is set where the trouble is in the address itself."""

    path: str
    kind: Kind
    expect: Expect
    about: str
    host: str | None = None

    def url(self, base_url: str) -> str:
        """Give the page's full address on the site that answers at `base_url`."""
        base = urlsplit(base_url)
        return f"{base.scheme}://{self.host or base.hostname}:{base.port}{self.path}"


def demo_jobs(base_url: str) -> list[dict[str, str]]:
    """Give one payload for each page of the demo, in the order they should be queued."""
    return [{"url": page.url(base_url)} for page in PAGES]


def _spread(plain: Sequence[DemoPage], special: Sequence[DemoPage]) -> tuple[DemoPage, ...]:
    """Mix both evenly, keeping the order of each, so that a run shows some of everything early."""
    placed = [
        ((index + 0.5) / len(group), page)
        for group in (plain, special)
        for index, page in enumerate(group)
    ]
    return tuple(page for _, page in sorted(placed, key=lambda entry: entry[0]))


_GOOD = [DemoPage(f"/products/{item.id}", "good", "done", item.name) for item in PRODUCTS]

# What takes longest, or needs several attempts, comes first: the rest is done in the meantime.
_SPECIAL = [
    DemoPage("/hang/silent", "hanging", "error", "takes the request and never answers"),
    DemoPage("/hang/busy", "hanging", "error", "its script never ends"),
    DemoPage("/blocked/challenge", "blocked", "error", "403 with a challenge"),
    DemoPage("/blocked/rate-limited", "blocked", "error", "429 with Retry-After and a challenge"),
    DemoPage("/flaky/first-try", "flaky", "done", "fails once, then succeeds"),
    DemoPage("/fail/500", "failing", "error", "always an internal server error"),
    DemoPage("/fail/reset", "failing", "error", "resets the connection"),
    DemoPage("/", "failing", "error", "a port that refuses connections", REFUSING_HOST),
    DemoPage("/products/999", "failing", "error", "a product that does not exist"),
    DemoPage("/slow/2000", "slow", "done", "answers after two seconds"),
    DemoPage("/slow/1000", "slow", "done", "answers after one second"),
    DemoPage("/slow/500", "slow", "done", "answers after half a second"),
    DemoPage("/odd/alert", "odd", "done", "opens an alert"),
    DemoPage("/odd/noisy", "odd", "done", "console errors and failed requests of its own"),
    DemoPage("/odd/redirect/3", "odd", "done", "three redirects before a product"),
    DemoPage("/odd/unicode", "odd", "done", "a title in many scripts, with emoji"),
]

PAGES: tuple[DemoPage, ...] = _spread(_GOOD, _SPECIAL)
