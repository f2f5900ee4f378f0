"""The launcher's part in `--workers auto`: it takes readings, and lets the number follow them.

A worker whose place has no slot any more ends after its job; a place that gets one is started. What
to do is decided in head_count.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from worker.settings import RunSettings
from worker.supervisor.head_count import GUESSED_MB, HeadCount, Reading, room_for, short_of
from worker.supervisor.memory import memory_mb
from worker.supervisor.slot import Slot, State
from worker.supervisor.view import AutoNumber
from worker.system.board import Board, Phase
from worker.system.headroom import Headroom

LOOK_SECONDS = 1.0
# Reading the memory of all browsers takes some milliseconds.
MEMORY_SECONDS = 5.0
# Browsers grow: expect this many times what they have now, and at least this many MB.
GROWTH, LEAST_MB = 1.2, 100.0
# How long the machine counts as short after a worker could not get what it needed.
SHORT_SECONDS = 30.0
ENDINGS = ("done", "failed", "retried")


class Roster:
    """How many of a run's places have a worker; fixed unless the run finds that out itself."""

    def __init__(
        self,
        settings: RunSettings,
        board: Board,
        slots: Sequence[Slot],
        say: Callable[[str], None],
        headroom: Headroom | None = None,
    ) -> None:
        self._shares_slots = settings.shares_slots
        self._header, self._entries = board.header, board.entries
        self._allotment = board.allotment
        self._slots = slots
        self._say = say
        self._headroom = headroom or Headroom()
        self._count: HeadCount | None = None
        if settings.finds_number:
            self._count = HeadCount(board.allotment.wanted, int(settings.workers))
        self._first = self._highest = board.allotment.wanted
        self._look_at = self._weigh_at = 0.0
        self._each_mb = GUESSED_MB
        self._shortages = 0
        self._short_until = 0.0

    def look(self, *, is_held_up: bool) -> None:
        """Take a reading if it is time; while the run is held up, rates would say nothing."""
        now = time.monotonic()
        if self._count is None or now < self._look_at:
            return
        self._look_at = now + LOOK_SECONDS
        # Whoever has gone home has seen the end: the others are about to.
        is_ending = any(slot.state is State.FINISHED for slot in self._slots)
        if is_held_up or is_ending:
            self._count.forget()
            return
        before = self._count.number
        if why := self._count.look(self._reading(now)):
            self._follow(self._count, before, why)

    def view(self) -> AutoNumber | None:
        """Say how many workers there are to be, if that can change."""
        if self._count is None:
            return None
        number, most = self._count.number, self._count.most
        return AutoNumber(number, self._first, self._highest, most)

    def _follow(self, count: HeadCount, before: int, why: str) -> None:
        # One that cannot start is no help: somebody else has to be among them.
        usable = [place for place, s in enumerate(self._slots) if s.state is not State.GIVEN_UP]
        count.number = max(count.number, usable[0] + 1 if usable else 1)
        if count.number == before:
            return
        self._highest = max(self._highest, count.number)
        self._short_until = 0.0
        if self._shares_slots:
            self._allotment.wanted = count.number
        else:
            self._allotment.have_first(count.number)
        ending = "s" * (count.number != 1)
        self._say(f"{count.number} worker{ending} from now on, after {before}: {why}")

    def _reading(self, now: float) -> Reading:
        header, spare = self._header, self._headroom.look()
        self._weigh(now)
        shortages = sum(slot.shortages for slot in self._slots)
        if shortages > self._shortages:
            self._shortages, self._short_until = shortages, now + SHORT_SECONDS
        ready = header.pending - header.waiting - header.held_back if header.counted_at else 0
        return Reading(
            at=now,
            ended=sum(slot.count(name) for slot in self._slots for name in ENDINGS),
            ready=max(ready, 0),
            is_settled=self._is_settled(),
            cpu_free=spare.cpu,
            room=room_for(spare, self._each_mb),
            short_of=short_of(spare, had_too_little=now < self._short_until),
        )

    def _weigh(self, now: float) -> None:
        if now < self._weigh_at:
            return
        self._weigh_at = now + MEMORY_SECONDS
        held = [each for each in memory_mb(self._entries) if each is not None]
        if held:
            self._each_mb = max(GROWTH * sum(held) / len(held), LEAST_MB)

    def _is_settled(self) -> bool:
        """Whether each place that is to have a worker has one, with its browser."""
        pairs = zip(self._slots, self._allotment.slots, strict=True)
        wanted = [slot for slot, number in pairs if number is not None]
        return len(wanted) == self._allotment.wanted and all(
            slot.pid and slot.entry.phase > Phase.BOOTING for slot in wanted
        )
