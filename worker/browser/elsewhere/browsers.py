"""One worker's browser elsewhere: from its own endpoint, or from another while that one rests.

What an endpoint fails of is told to all workers of the run. After `let_go` no session of ours is
open there, as far as that is in our hands.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from playwright.sync_api import Error as PlaywrightError

from worker.browser.elsewhere import sealing, sessions
from worker.browser.elsewhere.config import Elsewhere
from worker.browser.elsewhere.connecting import Connected
from worker.browser.elsewhere.places import Place, is_reachable, place_of
from worker.browser.elsewhere.troubles import EndpointFailed
from worker.browser.options import BrowserOptions
from worker.errors import BrowserAway, LaunchFailed, SettingsError

# Once this is over, no further endpoint is tried before the next look.
SEARCH_SECONDS = 20.0
# How often a worker that has moved looks whether its own endpoint is back.
HOME_SECONDS = 10.0
HOME_REACH_SECONDS = 1.0
SHORTEST_WAIT_SECONDS = 0.5
MOST_TOLD = 4

logger = logging.getLogger("nightshift.worker")


class Connector(Protocol):
    """Who connects: an engine with its driver."""

    def prepare(self) -> None:
        """Make sure that it can; raises LaunchFailed."""

    def connect(self, place: Place) -> Connected:
        """Connect; raises EndpointFailed."""


@dataclass(slots=True)
class Hold:
    """A session that is open, or that a service may have begun for us."""

    number: int
    place: Place
    connected: Connected | None = None
    note: Path | None = None


class Browsers:
    """The endpoints as one worker uses them, one session at a time."""

    def __init__(self, options: BrowserOptions, elsewhere: Elsewhere) -> None:
        self._slot = options.slot
        self._elsewhere = elsewhere
        self._rests = elsewhere.rests
        self._order = elsewhere.order_for(options.slot)
        self._notes = sessions.Notes(elsewhere, options.shared_dir)
        self._look_home_at = 0.0
        # The one that was connected to last.
        self._last = self._order[0]
        self._hold: Hold | None = None

    def open(
        self,
        connector: Connector,
        proxy_hosts: frozenset[str],
        seconds: float = SEARCH_SECONDS,
    ) -> Connected:
        """Connect to the first endpoint that gives a browser, and note the session.

        Raises BrowserAway while none does, and LaunchFailed when only a person can change that.
        """
        self.let_go()
        self._notes.close_left()
        deadline = time.monotonic() + seconds
        troubles: dict[int, EndpointFailed] = {}
        for number in self._candidates():
            if troubles and time.monotonic() > deadline:
                break
            connector.prepare()
            try:
                connected = self._open(number, connector, proxy_hosts)
            except EndpointFailed as failed:
                troubles[number] = failed
                self._fail(number, failed)
                continue
            self._last = number
            self._rests.succeed(number)
            self._say_where(number)
            return connected
        raise self._away(troubles)

    def blame(self, problem: str) -> LaunchFailed:
        """Leave the endpoint alone that gave a browser of no use; return what to raise."""
        failed = EndpointFailed(f"its browser opens no page ({problem})")
        self._fail(self._last, failed)
        return self._away({self._last: failed})

    def let_go(self) -> None:
        """End the session that was open, after its connection; never raises."""
        hold, self._hold = self._hold, None
        if hold is None or hold.note is None or hold.place.session is None:
            return
        is_closed = sessions.close(self._elsewhere, hold.number, hold.place.session)
        self._notes.drop(hold.note, is_closed=is_closed)

    @property
    def label(self) -> str:
        """Name the endpoint of the last browser."""
        return self._elsewhere.endpoints[self._last].label

    def answers(self) -> bool:
        """Ask the browser whether it is there; the caller limits the wait. Never raises."""
        if self._hold is None or self._hold.connected is None:
            return False
        try:
            self._hold.connected.browser.new_browser_cdp_session().detach()
        except PlaywrightError:
            return False
        return True

    @property
    def is_gone(self) -> bool:
        """Whether nobody listens any more where the last browser was; asks the network."""
        return self._hold is not None and is_reachable(self._hold.place.url) is False

    @property
    def is_home_back(self) -> bool:
        """Whether the worker has moved, and its own endpoint answers again; asks seldom."""
        home, now = self._order[0], time.monotonic()
        if self._hold is None or self._hold.number == home or now < self._look_home_at:
            return False
        self._look_home_at = now + HOME_SECONDS
        endpoint = self._elsewhere.endpoints[home]
        # A function may begin a session whenever it is asked: it is asked to connect only.
        if endpoint.is_function or self._rests.seconds_left(home) > 0:
            return False
        place = place_of(endpoint, self._elsewhere, self._slot)
        return is_reachable(place.url, HOME_REACH_SECONDS) is not False

    @property
    def facts(self) -> dict[str, Any] | None:
        """What evidence and dashboard tell of the session; None without one."""
        if self._hold is None or self._hold.connected is None:
            return None
        place = self._hold.place
        return {
            "endpoint": place.label,
            "protocol": place.speech.value,
            "browser_version": self._hold.connected.version,
            "browser_session": place.session,
            "live_view": place.live_url,
        }

    def _candidates(self) -> list[int]:
        """Number the endpoints to try: those that do not rest, then those that may be mended."""
        awake = [number for number in self._order if self._rests.seconds_left(number) <= 0]
        mended = [n for n in self._order if n not in awake and self._rests.is_lasting(n)]
        return [*awake, *mended]

    def _open(self, number: int, connector: Connector, proxy_hosts: frozenset[str]) -> Connected:
        try:
            place = place_of(self._elsewhere.endpoints[number], self._elsewhere, self._slot)
        except SettingsError as error:
            raise EndpointFailed(str(error), is_lasting=True) from error
        # Noted first: a service may have begun the session before it gives a browser.
        hold = self._hold = Hold(number, place, note=self._note(number, place))
        try:
            connected = connector.connect(place)
            if proxy_hosts and (gap := sealing.gap(connected.command_line, proxy_hosts)):
                raise EndpointFailed(_past_proxies(gap), is_lasting=True)
        except BaseException:
            self.let_go()
            raise
        hold.place, hold.connected = sessions.described(place, self._elsewhere), connected
        if hold.note is None:
            hold.note = self._note(number, hold.place)
        return connected

    def _note(self, number: int, place: Place) -> Path | None:
        if place.session is None or not sessions.is_to_be_closed(self._elsewhere, number):
            return None
        return self._notes.keep(number, place.session)

    def _fail(self, number: int, failed: EndpointFailed) -> None:
        seconds = self._rests.fail(number, is_lasting=failed.is_lasting)
        logger.warning(
            "the browser at %s cannot be had, it is left alone for %.0f s: %s",
            self._elsewhere.endpoints[number], seconds, failed,
        )  # fmt: skip

    def _say_where(self, number: int) -> None:
        if number != self._order[0]:
            endpoints = self._elsewhere.endpoints
            logger.warning(
                "using the browser at %s instead of %s",
                endpoints[number], endpoints[self._order[0]],
            )  # fmt: skip

    def _away(self, troubles: dict[int, EndpointFailed]) -> LaunchFailed:
        endpoints = self._elsewhere.endpoints
        told = [f"{endpoints[n]}: {trouble}" for n, trouble in troubles.items()]
        if len(told) < len(endpoints):
            told.append(f"{len(endpoints) - len(told)} of {len(endpoints)} are left alone for now")
        text = f"no browser elsewhere can be had ({'; '.join(told[:MOST_TOLD])})"
        if len(troubles) == len(endpoints) and all(t.is_lasting for t in troubles.values()):
            return LaunchFailed(text)
        after = min(self._rests.seconds_left(number) for number in self._order)
        return BrowserAway(text, max(after, SHORTEST_WAIT_SECONDS))


def _past_proxies(gap: str) -> str:
    return (
        f"proxies are configured, and this browser would go out past them ({gap}): "
        "docs/browsers.md says how to start it"
    )
