"""The pool's heart: a child of the launcher that does all its talking to the database.

It renews the leases of claims whose worker lives, settles for workers that died, lets waiting jobs
come due, sweeps, and counts. So no slow or absent database ever holds up the launcher's loop.
"""

from __future__ import annotations

import json
import logging
import math
import select
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from worker import log
from worker.claiming import held_back, scope, turns
from worker.claiming.drain import unfinished
from worker.claiming.scope import Scope
from worker.database.client import Database
from worker.database.locks import Lock
from worker.errors import DatabaseUnavailable, RowsLocked
from worker.guards import breakers
from worker.models import Outcome, Status
from worker.queue import pause, runs
from worker.queue.batches import BatchWatch
from worker.queue.claims import Queue
from worker.recovery import deaths, sweep
from worker.recovery.deaths import Death
from worker.recovery.places import Places
from worker.scheduling import firing
from worker.settings import RunSettings
from worker.supervisor import withdrawals
from worker.supervisor.bookkeeping import Bookkeeping
from worker.supervisor.chore import Chore
from worker.supervisor.heart_link import parse_messages
from worker.supervisor.renewal import Renewal
from worker.supervisor.slot_keeper import LOOK_SECONDS, SlotKeeper, SlotNote, keeper_of
from worker.supervisor.strangers_watch import StrangersWatch
from worker.system.board import Board
from worker.webhooks import outbox

TICK_SECONDS = 0.25
PROMOTE_SECONDS = 0.5
CONTROL_SECONDS = 0.5
OUTBOX_SECONDS = 0.5
WITHDRAWALS_SECONDS = 1.0
BATCHES_SECONDS = 1.0
SCHEDULES_SECONDS = 1.0
# At the end of a run, for batches that its last jobs have finished.
LAST_LOOK_SECONDS = 1.0
BREAKERS_SECONDS = 60.0
TURNS_SECONDS = 600.0
ROLLUPS_SECONDS = 1.0
WATCHED_SECONDS = 2.0
STRANGERS_SECONDS = 5.0
HELD_BACK_SECONDS = 5.0
# For the live display: a glance will do.
HELD_BACK_COUNT_SECONDS = 0.1
LOCK_WAIT_SECONDS = 1
# A claim may still be on its way to the server when its worker dies: look again for this long.
LATE_CLAIM_SECONDS = 10.0

logger = logging.getLogger("nightshift.heart")


@dataclass(slots=True)
class Heart:
    """One heart's life; `main` is what the forked child runs."""

    settings: RunSettings
    board: Board
    run_id: int
    link: socket.socket
    locks: tuple[Lock, ...] = ()
    _inbox: bytes = b""
    _deaths: list[Death] = field(default_factory=list)
    _recent: dict[int, tuple[float, Death]] = field(default_factory=dict)
    _is_ending: bool = False
    _is_pause_known: bool = False
    # When the database answered again after an absence.
    _back_at: float = -math.inf
    _complaints: set[str] = field(default_factory=set)
    _own: Scope | None = None

    def main(self) -> int:
        """Beat until the launcher closes the link and nothing is left to settle."""
        log.configure("heart")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        # One row that somebody holds must not keep the leases of all others from being renewed.
        db = Database(
            self.settings.database,
            read_timeout_seconds=10.0,
            lock_wait_seconds=LOCK_WAIT_SECONDS,
        )
        queue = Queue.of_run(db, self.settings)
        books = Bookkeeping(db, self.board, self.run_id)
        batches = BatchWatch(db, self.settings.callback_url)
        keeper = keeper_of(
            db, self.settings, self.board.allotment, self.run_id, self._answering_seconds
        )
        chores = [*self._slot_chores(db, keeper), *self._chores(db, queue, books, batches)]
        while not (self._is_ending and not self._deaths):
            self._listen()
            try:
                with db.passing_locks():
                    self._settle_for_the_dead(db, queue)
                    for chore in chores:
                        chore.run_if_due()
                    self._note_answer(books)
            except DatabaseUnavailable as error:
                self._note_absence(error)
                if self._is_ending:
                    return 1
        with suppress(DatabaseUnavailable, RowsLocked):
            batches.look(LAST_LOOK_SECONDS)
            self._look_into_outbox(db)
            for lock in self.locks:
                lock.release(db)
            if keeper is not None:
                keeper.release()
        books.close()
        db.close()
        return 0

    def _slot_chores(self, db: Database, keeper: SlotKeeper | None) -> list[Chore]:
        third = self.settings.lease_seconds / 3
        if keeper is None and self.settings.finds_number:
            return [Chore(1.0, SlotNote(db, self.board.allotment, self.run_id).look)]
        if keeper is None:
            return []
        return [
            Chore(min(third, 10.0), keeper.renew),
            Chore(min(third, LOOK_SECONDS), keeper.look),
        ]

    def _chores(
        self, db: Database, queue: Queue, books: Bookkeeping, batches: BatchWatch
    ) -> list[Chore]:
        third = self.settings.lease_seconds / 3
        renewal = Renewal(db, queue, self.board, books, self.locks)
        # Renewal comes before the sweep: after an outage living owners must not look abandoned.
        return [
            Chore(min(third, 10.0), renewal.renew),
            Chore(CONTROL_SECONDS, lambda: self._obey(db)),
            Chore(WITHDRAWALS_SECONDS, lambda: withdrawals.note(db, self.board.entries)),
            Chore(PROMOTE_SECONDS, lambda: self._promote(queue)),
            Chore(min(third, 30.0), lambda: self._sweep(db, queue)),
            Chore(1.0, lambda: self._count(db), is_costly=True),
            Chore(STRANGERS_SECONDS, self._strangers(db).look, is_costly=True),
            Chore(HELD_BACK_SECONDS, lambda: self._count_held_back(db), is_costly=True),
            Chore(BATCHES_SECONDS, batches.look, is_costly=True),
            Chore(SCHEDULES_SECONDS, lambda: firing.fire_due(db, self._complaints)),
            Chore(OUTBOX_SECONDS, lambda: self._look_into_outbox(db)),
            Chore(BREAKERS_SECONDS, lambda: breakers.forget_quiet(db)),
            Chore(TURNS_SECONDS, lambda: turns.forget_old(db)),
            Chore(ROLLUPS_SECONDS, books.keep_rollups),
            Chore(WATCHED_SECONDS, lambda: self._beat_for_onlookers(renewal)),
        ]

    @property
    def _places(self) -> Places:
        settings = self.settings
        return Places(settings.database, settings.state_dir, settings.errors_dir)

    def _listen(self) -> None:
        ready, _, _ = select.select([self.link], [], [], TICK_SECONDS)
        if not ready:
            return
        data = self.link.recv(65536)
        if not data:
            self._is_ending = True
            for death in self._deaths:
                deaths.keep(self._places.journal, death)
            return
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for death in parse_messages(lines):
            if self.board.header.database_away_since:
                deaths.keep(self._places.journal, death)
            self._deaths.append(death)

    def _settle_for_the_dead(self, db: Database, queue: Queue) -> None:
        for death in list(self._deaths):
            try:
                self._settle(db, queue, death)
                runs.end_worker(db, death["incarnation"], death["ending"])
            except RowsLocked as error:
                logger.warning("a dead worker's job is settled later: %s", error)
                continue
            # It may have died between the commit of its finish and the counting of it.
            shown = (death["job_id"], death["fence"])
            if death["job_id"] is not None and queue.is_finished(*shown, death["incarnation"]):
                self.board.header.done += 1
            deaths.forget(self._places.journal, death)
            self._recent[death["incarnation"]] = (time.monotonic(), death)
            self._deaths.remove(death)
            self._say({"ack": death["number"]})
        for incarnation, (died_at, death) in list(self._recent.items()):
            if time.monotonic() - died_at > LATE_CLAIM_SECONDS:
                del self._recent[incarnation]
            else:
                with suppress(RowsLocked):
                    self._settle(db, queue, death)

    def _settle(self, db: Database, queue: Queue, death: Death) -> None:
        for item in deaths.settle(db, queue, death, self._places):
            if item.status is Status.ERROR:
                self.board.header.failed += 1
            elif death["outcome"] == Outcome.HANDED_BACK:
                self.board.header.handed_back += 1
            else:
                self.board.header.retried += 1

    def _beat_for_onlookers(self, renewal: Renewal) -> None:
        """Tell what the workers are at more often than a lease needs, while somebody looks."""
        if self.board.header.is_watched:
            renewal.beat()

    def _obey(self, db: Database) -> None:
        asked = pause.holds(db, self.settings.queues)
        self.board.header.is_paused = asked is not None
        if asked is not None and not self._is_pause_known:
            logger.warning(
                "paused by %s (%s): nothing is claimed; continue with: launcher.py resume",
                asked["set_by"],
                asked["reason"],
            )
        self._is_pause_known = asked is not None

    def _look_into_outbox(self, db: Database) -> None:
        self.board.header.has_due_events = outbox.has_due(db)

    def _sweep(self, db: Database, queue: Queue) -> None:
        swept = sweep.sweep_and_say(
            db,
            queue,
            self._places,
            self.settings.server_grace_seconds,
            self._answering_seconds(),
        )
        self.board.header.swept += len(swept)
        self.board.header.failed += sweep.failed(swept)

    def _promote(self, queue: Queue) -> None:
        # Idle workers look again when this changes.
        self.board.header.promoted += queue.promote()

    def _count(self, db: Database) -> None:
        header, counts = self.board.header, unfinished(db, self._scope(db))
        header.pending = counts["pending"]
        header.in_progress = counts["in_progress"]
        header.waiting = counts["waiting"]
        header.counted_at = time.monotonic()

    def _count_held_back(self, db: Database) -> None:
        found = held_back.count(db, seconds=HELD_BACK_COUNT_SECONDS, scope=self._scope(db))
        self.board.header.held_back = sum(item.jobs for item in found)
        self.board.header.held_because = found[0].reason if found else ""

    def _answering_seconds(self) -> float:
        """For how long the database has answered; other hosts come back to it after us."""
        is_away = bool(self.board.header.database_away_since)
        return 0.0 if is_away else time.monotonic() - self._back_at

    def _note_answer(self, books: Bookkeeping) -> None:
        if self.board.header.database_away_since:
            self._back_at = time.monotonic()
        books.note_answer()

    def _scope(self, db: Database) -> Scope:
        """Which jobs are counted: all, until some were met that are not this run's."""
        own = self._own_scope(db)
        return own if self.board.header.has_strangers else own.whole

    def _own_scope(self, db: Database) -> Scope:
        if self._own is None:
            self._own = scope.of_run(db, self.run_id)
        return self._own

    def _strangers(self, db: Database) -> StrangersWatch:
        return StrangersWatch(db, self.board.header, lambda: self._own_scope(db))

    def _note_absence(self, error: DatabaseUnavailable) -> None:
        header = self.board.header
        if not header.database_away_since:
            header.database_away_since = time.monotonic()
            logger.warning("%s; the pool keeps its jobs and waits", error)

    def _say(self, message: dict[str, Any]) -> None:
        self.link.sendall(json.dumps(message).encode() + b"\n")
