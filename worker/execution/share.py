"""What a worker looks for: its own share of the jobs as the slots stand now, then the others'.

Hosts with `--slots auto` come and go: the share follows them, and a slot that was given to
somebody else, or may have been, is not worked on.
"""

from __future__ import annotations

from collections.abc import Callable

from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.drain import Drain
from worker.claiming.hopelessness import Foresee
from worker.claiming.search_trail import News
from worker.database.client import Database
from worker.execution import idling
from worker.models import Partition
from worker.settings import RunSettings
from worker.system.board import Board, Phase


class Share:
    """One worker's partition, with its candidates and its view of the end."""

    def __init__(
        self,
        db: Database,
        settings: RunSettings,
        slot: int,
        board: Board,
        closures: ClosedKeys,
        is_stopping: Callable[[], bool],
        foresee: Foresee,
    ) -> None:
        self._db = db
        self._settings = settings
        self._header = board.header
        self._allotment = board.allotment
        self._slot = slot
        self._place = board.allotment.place_of(slot) or 0
        self._entries = board.entries
        self._before = board.entries[: self._place]
        self._closures = closures
        self._is_stopping = is_stopping
        self._foresee = foresee
        self._begin()

    def _begin(self) -> None:
        self._partition = Partition(self._slot, self._allotment.total)
        helps = self._settings.help_others
        self.candidates = Candidates(
            self._db,
            self._partition,
            help_others=helps,
            closures=self._closures,
            news=self._news,
            is_first=self._is_first,
        )
        self.candidates.hopeless.foresee = self._foresee
        self.drain = Drain(
            self._db,
            self._partition,
            self._closures,
            self.candidates,
            help_others=helps,
            wait_seconds=self._settings.wait_retries_seconds,
            is_stopping=self._is_stopping,
        )

    def follow(self) -> None:
        """Look by another partition if there are more slots, or fewer, than before."""
        if self._allotment.total != self._partition.total:
            known = self.candidates.follow_ups
            self._begin()
            self.candidates.follow_ups = known

    @property
    def is_moved(self) -> bool:
        """Whether this worker's place has another slot by now, or none."""
        return self._allotment.slot_at(self._place) != self._slot

    @property
    def is_held(self) -> bool:
        """Whether this worker may claim by its slot."""
        return self._allotment.is_held and not self.is_moved

    @property
    def most_idle_seconds(self) -> float:
        """How long this worker may wait without work before it looks again."""
        if not (self._settings.follow and self._settings.help_others):
            # Nobody else does its jobs, or the run shall end soon after its last one.
            return idling.MAX_SECONDS
        idle_here = sum(entry.phase == Phase.IDLE for entry in self._entries)
        return idling.most_wait(idle_here * self._partition.total / len(self._entries))

    def _news(self) -> News | None:
        header = self._header
        ready = header.pending - header.waiting
        return News(ready, header.promoted) if header.counted_at else None

    def _is_first(self) -> bool:
        return all(entry.phase != Phase.IDLE for entry in self._before)
