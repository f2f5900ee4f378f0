"""Deliver webhooks: take the events that are due, send several at once, record what happened.

A receiver that does not answer rests and is then probed with one event at a time. A slow receiver
never gets all the connections. So no receiver holds up the events of another.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from worker.backoff import backoff_seconds
from worker.database.client import Database
from worker.errors import DatabaseUnavailable
from worker.webhooks import outbox
from worker.webhooks.outbox import Event
from worker.webhooks.sender import Receipt, Sender, WebhookSettings, shown

AT_ONCE = 8
AT_ONCE_TO_ONE_PLACE = 6
POLL_SECONDS = 0.5
FIRST_REST_SECONDS = 2.0
MAX_REST_SECONDS = 60.0
TIDY_SECONDS = 3600.0
# The same problem of the same receiver is logged once. The memory of that is bounded.
MAX_COMPLAINTS = 200

logger = logging.getLogger("nightshift.courier")


@dataclass(slots=True)
class Tally:
    """How many deliveries arrived, failed and were given up so far."""

    delivered: int = 0
    failed: int = 0
    given_up: int = 0


@dataclass(slots=True)
class Place:
    """One receiver as this deliverer knows it."""

    in_flight: int = 0
    failures: int = 0
    rests_until: float = 0.0

    @property
    def is_left_out(self) -> bool:
        limit = 1 if self.failures else AT_ONCE_TO_ONE_PLACE
        return self.in_flight >= limit or time.monotonic() < self.rests_until

    @property
    def is_known(self) -> bool:
        return bool(self.in_flight or self.failures)

    def fail(self, retry_after: float | None) -> None:
        """Let the receiver rest; failures that were under way when the rest began count as one."""
        if time.monotonic() >= self.rests_until:
            self.failures += 1
            rest = backoff_seconds(self.failures, FIRST_REST_SECONDS, MAX_REST_SECONDS)
            self.rests_until = time.monotonic() + max(rest, retry_after or 0.0)


class Deliveries:
    """Send events: `drain` sends what is due now, `follow` continues until it is told to end."""

    def __init__(self, db: Database, settings: WebhookSettings) -> None:
        self._db = db
        self._settings = settings
        self._places: dict[str, Place] = {}
        self._complaints: set[tuple[str, str]] = set()
        self._tidy_at = 0.0
        self._look_at = 0.0
        self._left_out_in_vain: set[str] = set()
        self.tally = Tally()

    def drain(self) -> Tally:
        """Send everything that is due; what fails waits for its next try."""
        asyncio.run(self._work(lambda: False, lambda: True))
        return self.tally

    def follow(self, keep_waiting: Callable[[], bool], keep_taking: Callable[[], bool]) -> None:
        """Send events as they come due, also after the database was away, until told to end."""
        while True:
            try:
                self._db.ping()
                asyncio.run(self._work(keep_waiting, keep_taking))
                return
            except DatabaseUnavailable:
                # The heart logs the outage. Events under way are sent again when their lease ends.
                self._places.clear()
            if not keep_waiting():
                return
            time.sleep(POLL_SECONDS)

    async def _work(
        self, keep_waiting: Callable[[], bool], keep_taking: Callable[[], bool]
    ) -> None:
        flights: dict[asyncio.Task[Receipt], Event] = {}
        async with Sender(self._settings) as sender:
            while True:
                self._tidy()
                # Asked before looking for events, so that the last look comes after the last event.
                is_last_look = not keep_waiting()
                is_forced = is_last_look and not flights
                if keep_taking() and len(flights) < AT_ONCE:
                    for event in self._take(AT_ONCE - len(flights), is_forced=is_forced):
                        flights[asyncio.create_task(sender.send(event))] = event
                if flights:
                    done, _ = await asyncio.wait(
                        flights, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED
                    )
                    for task in done:
                        self._settle(flights.pop(task), task.result())
                elif is_last_look:
                    return
                else:
                    await asyncio.sleep(POLL_SECONDS)

    def _take(self, limit: int, *, is_forced: bool) -> Iterator[Event]:
        left_out = {name for name, place in self._places.items() if place.is_left_out}
        began = time.monotonic()
        if not is_forced and began < self._look_at and left_out >= self._left_out_in_vain:
            return
        events = outbox.due(self._db, limit=limit, left_out=left_out)
        if not events:
            # Looking past the backlog of a slow or silent receiver reads all of it. That may use
            # a twentieth of the time, until one of the receivers left out may be sent to again.
            self._left_out_in_vain = left_out
            self._look_at = began + 20 * (time.monotonic() - began)
        for found in events:
            place = self._places.setdefault(found.place, Place())
            if not place.is_left_out and (event := outbox.take(self._db, found)) is not None:
                place.in_flight += 1
                yield event
            elif not place.is_known:
                del self._places[found.place]

    def _settle(self, event: Event, receipt: Receipt) -> None:
        place = self._places[event.place]
        place.in_flight -= 1
        if receipt.problem is None:
            place.failures = 0
            self.tally.delivered += 1
            outbox.mark_delivered(self._db, event)
        else:
            self._settle_failure(event, receipt, receipt.problem, place)
        if not place.is_known:
            del self._places[event.place]

    def _settle_failure(self, event: Event, receipt: Receipt, problem: str, place: Place) -> None:
        delay = outbox.mark_failed(
            self._db, event, problem, is_final=receipt.is_final, retry_after=receipt.retry_after
        )
        if delay is None:
            self.tally.given_up += 1
        else:
            self.tally.failed += 1
        if receipt.is_receiver_down:
            place.fail(receipt.retry_after)
            if delay is None:
                # Other events for it may be as old, and trying each of them would take days.
                self.tally.given_up += outbox.give_up_old(self._db, event.place, problem)
        self._complain(event, problem, is_given_up=delay is None)

    def _complain(self, event: Event, problem: str, *, is_given_up: bool) -> None:
        whom = shown(event.url)
        complaint = (whom, f"{problem}; {'given up' if is_given_up else 'tried again later'}")
        if complaint in self._complaints or len(self._complaints) >= MAX_COMPLAINTS:
            return
        self._complaints.add(complaint)
        logger.warning("webhook of job %s to %s: %s", event.job_id, *complaint)

    def _tidy(self) -> None:
        if time.monotonic() >= self._tidy_at:
            has_more = outbox.forget(self._db)
            self._tidy_at = time.monotonic() + (POLL_SECONDS if has_more else TIDY_SECONDS)
