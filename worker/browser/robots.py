"""Keep a worker's pages to what sites' robots.txt allow (`--respect-robots`), by RFC 9309.

A page that may not be opened is refused before it is asked for: by `goto` in any page, and in the
job's own page also by links, forms and redirects. What a page loads besides is not looked at.
"""

from __future__ import annotations

import logging
import math
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

from worker.browser import robots_file
from worker.browser.page_rules import shown
from worker.browser.robots_file import RobotsAnswer
from worker.browser.robots_rules import RobotsRules
from worker.browser.tab import Tab
from worker.errors import PageRefused, SiteFailed
from worker.installation import command_line

# How long what a site said holds, and at most, as RFC 9309 has it, when it says nothing any more.
LIFE_SECONDS = 3600.0
LONGEST_LIFE_SECONDS = 86400.0
# A site whose robots.txt cannot be had is left alone, longer each time.
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 60.0, 1800.0
# What is kept of all sites: rules take some thirty times as much room as their text.
MAX_SITES, MAX_CHARACTERS = 1000, 4_000_000
# "Unavailable" to RFC 9309 is any other 4xx; this one only asks for patience.
TOO_MANY_REQUESTS = 429

_PORTS = {"http": 80, "https": 443}

logger = logging.getLogger("nightshift.worker")

PageBeside = Callable[[str], AbstractContextManager[Page]]


@dataclass(slots=True)
class _Site:
    """What one site has said to one user agent."""

    rules: RobotsRules | None = None
    characters: int = 0
    fetched_at: float = 0.0
    # Why nothing of it may be opened now, since when to ask again, and after how long next time.
    trouble: str = ""
    closed_until: float = 0.0
    wait_seconds: float = FIRST_WAIT_SECONDS


class Robots:
    """The robots.txt files that one worker knows, and the job's pages that go by them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        # Opens a page beside the job's, with its way out, for a user agent.
        self.page_beside: PageBeside | None = None
        self._clock = clock
        self._agent = ""
        self._sites: OrderedDict[tuple[str, str], _Site] = OrderedDict()
        self._watched: weakref.WeakSet[Page] = weakref.WeakSet()
        self._refusal: BaseException | None = None

    def begin(self, tab: Tab) -> None:
        """Go by the user agent of the job that gets this tab, and look where its page goes."""
        self._refusal = None
        self._agent = str(tab.page.evaluate("navigator.userAgent"))
        if tab.page not in self._watched:
            self._watched.add(tab.page)
            self._watch(tab)

    def check(self, url: str) -> None:
        """Raise PageRefused for a page that may not be opened.

        SiteFailed or Playwright's Error if nobody can say, because robots.txt cannot be had.
        """
        place = _site_of(url)
        if place is None:
            return
        site = self._site(place)
        if site.rules is None:
            after = max(0.0, site.closed_until - self._clock())
            raise SiteFailed(f"{site.trouble}; until it can, no page there is opened", after=after)
        if not site.rules.allows(url):
            raise PageRefused(
                f"{shown(url)} is not opened: robots.txt of {place} refuses it "
                f"{site.rules.why_not(url)} (--respect-robots)"
            )

    def explain(self, problem: BaseException | None) -> BaseException | None:
        """Say what a job really failed of, if a link or redirect was refused."""
        return self._refusal if problem is not None else None

    def _watch(self, tab: Tab) -> None:
        frame = tab.devtools.send("Page.getFrameTree")["frameTree"]["frame"]["id"]

        def look(event: dict[str, Any]) -> None:
            paused = {"requestId": event["requestId"]}
            try:
                try:
                    if event.get("frameId") == frame:
                        self.check(event["request"]["url"])
                except (PageRefused, SiteFailed, PlaywrightError) as refusal:
                    self._refusal = self._refusal or refusal
                    tab.devtools.send(
                        "Fetch.failRequest", {**paused, "errorReason": "BlockedByClient"}
                    )
                else:
                    tab.devtools.send("Fetch.continueRequest", paused)
            except PlaywrightError:
                # The page is gone, and its request with it.
                pass

        tab.devtools.on("Fetch.requestPaused", look)
        tab.devtools.send(
            "Fetch.enable", {"patterns": [{"urlPattern": "http*", "resourceType": "Document"}]}
        )

    def _site(self, place: str) -> _Site:
        """Return what is known of a site, asking it if that is not enough."""
        key, now = (place, self._agent), self._clock()
        site = self._sites.setdefault(key, _Site())
        self._sites.move_to_end(key)
        is_fresh = site.rules is not None and now < site.fetched_at + LIFE_SECONDS
        if is_fresh or now < site.closed_until:
            return site
        assert self.page_beside is not None
        with self.page_beside(self._agent) as page:
            answer = robots_file.fetch(page, f"{place}/robots.txt")
        self._learn(place, site, answer)
        self._forget_some(site)
        return site

    def _learn(self, place: str, site: _Site, answer: RobotsAnswer) -> None:
        now = self._clock()
        if answer.status == 0 or answer.status >= 500 or answer.status == TOO_MANY_REQUESTS:
            wait = max(site.wait_seconds, answer.retry_after or 0.0)
            site.closed_until = now + min(wait, LONGEST_WAIT_SECONDS)
            site.wait_seconds = min(site.wait_seconds * 2, LONGEST_WAIT_SECONDS)
            why = f"HTTP {answer.status}" if answer.status else "no answer in time"
            site.trouble = f"robots.txt of {place} cannot be had ({why})"
            if site.rules is not None and now >= site.fetched_at + LONGEST_LIFE_SECONDS:
                site.rules = None
            return
        # Any other answer but 2xx means that there are no rules.
        site.rules = RobotsRules(answer.text, self._agent)
        site.characters, site.fetched_at = len(answer.text), now
        site.trouble, site.closed_until, site.wait_seconds = "", 0.0, FIRST_WAIT_SECONDS
        if delay := site.rules.crawl_delay:
            logger.info(
                "robots.txt of %s asks for %g s between requests; that is not obeyed by itself: "
                "%s --per-minute %g",
                place, delay, command_line("limits", "set", f"site:{urlsplit(place).hostname}"),
                _per_minute(delay),
            )  # fmt: skip

    def _forget_some(self, latest: _Site) -> None:
        total = sum(site.characters for site in self._sites.values())
        while len(self._sites) > MAX_SITES or total > MAX_CHARACTERS:
            key, oldest = next(iter(self._sites.items()))
            if oldest is latest:
                break
            total -= oldest.characters
            del self._sites[key]


def _per_minute(delay: float) -> float:
    """Say how many starts a minute keep that many seconds apart, in two digits, never too many."""
    exact = 60 / delay
    digits = max(0, 1 - math.floor(math.log10(exact)))
    step = float(10**digits)
    return math.floor(exact * step) / step


def _site_of(url: str) -> str | None:
    """Name the place whose robots.txt counts for an address; None where none does."""
    try:
        parts = urlsplit(url.strip())
        scheme, host = parts.scheme.lower(), parts.hostname or ""
        port = f":{parts.port}" if parts.port not in (None, _PORTS.get(scheme)) else ""
    except ValueError:
        return None
    if scheme not in _PORTS or not host or parts.path == "/robots.txt":
        return None
    return f"{scheme}://{f'[{host}]' if ':' in host else host}{port}"
