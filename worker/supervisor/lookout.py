"""The lookout: a child of the launcher that tells people, by `--notify`, when a run goes wrong.

There is none without targets. It looks at the board, and into the database, which may be away. A
message is sent by a child of its own, for a limited time. What has been told stands on the board
and in the groups' rows, so that the next lookout does not repeat it.
"""

from __future__ import annotations

import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntFlag
from pathlib import Path
from typing import TypeVar

from worker import log
from worker.backoff import backoff_seconds
from worker.database.client import Database
from worker.errors import DatabaseUnavailable
from worker.notices import last_finish, messages, new_groups
from worker.notices.conditions import Change, Condition, Stillness
from worker.notices.messages import Notice
from worker.reporting import outlook
from worker.reporting.deadline import is_late
from worker.settings import RunSettings
from worker.supervisor.notice_child import send_in_child
from worker.system.board import Board

# With the stall's usual 15 minutes, every 15 seconds.
LOOKS_PER_STALL = 60
MIN_LOOK_SECONDS, MAX_LOOK_SECONDS = 0.2, 15.0
# Groups that come one after the other are told together.
BETWEEN_GROUPS_SECONDS = 300.0
LATE_REST_SECONDS = 900.0
SEND_SECONDS = 30.0
# At the end of a run: how long the last look and its message may take.
LAST_LOOK_SECONDS = 15.0
RETRY_SECONDS, MAX_RETRY_SECONDS = 60.0, 900.0

T = TypeVar("T")


class Told(IntFlag):
    """What this run's people know, as it stands on the board."""

    STALL = 1
    LATE = 2
    # It was said that somebody could not be told.
    SILENCE = 4


@dataclass(slots=True)
class Lookout:
    """One lookout's life; `main` is what the forked child runs."""

    settings: RunSettings
    board: Board
    run_id: int
    began: float
    link: socket.socket
    _stall: Condition = field(init=False)
    _late: Condition = field(init=False)
    _still: Stillness = field(init=False)
    _failures: int = 0
    _try_at: float = 0.0
    _groups_at: float = 0.0

    def __post_init__(self) -> None:
        header = self.board.header
        told = Told(header.told)
        self._stall = Condition(is_told=Told.STALL in told)
        self._late = Condition(LATE_REST_SECONDS, is_told=Told.LATE in told)
        self._still = Stillness(header.still_since or time.monotonic())

    def main(self) -> int:
        """Look until the launcher closes the link; then look once more at the failures."""
        log.configure("lookout")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        every = self.settings.notify_stall_seconds / LOOKS_PER_STALL
        every = min(max(every, MIN_LOOK_SECONDS), MAX_LOOK_SECONDS)
        db = Database(self.settings.database, read_timeout_seconds=10.0)
        while not select.select([self.link], [], [], every)[0]:
            self._look(db)
        self._groups_at = self._try_at = 0.0
        _ask(db, lambda: self._look_at_groups(db))
        db.close()
        return 0

    def _look(self, db: Database) -> None:
        self._look_at_stall(db, _ask(db, lambda: last_finish.seconds_ago(db)))
        if self.board.header.claim_until:
            _ask(db, lambda: self._look_at_time(db))
        _ask(db, lambda: self._look_at_groups(db))

    def _look_at_stall(self, db: Database, last_end_ago: float | None) -> None:
        header, now = self.board.header, time.monotonic()
        held = header.waiting + header.held_back
        # Before the heart has counted, as without a database, the board knows what is at work.
        at_work = sum(entry.job_id is not None for entry in self.board.entries)
        to_go = max(0, header.pending - held) + max(header.in_progress, at_work)
        seconds = self._still.look(last_end_ago, bool(to_go) and not header.is_paused, now)
        header.still_since = self._still.since
        holds = seconds >= self.settings.notify_stall_seconds
        change = self._change(self._stall, holds, now)
        if change is Change.BEGAN:
            away = now - header.database_away_since if header.database_away_since else 0.0
            notice = messages.stalled(self.run_id, seconds, to_go, header.held_because, away)
            self._tell(self._stall, Told.STALL, notice, self._worst_picture(db))
        elif change is Change.ENDED:
            header.told &= ~Told.STALL
            self._send(messages.moves_again(self.run_id))

    def _look_at_time(self, db: Database) -> None:
        now, until = time.monotonic(), self.board.header.claim_until
        known = outlook.outlook(db)
        eta = known.eta_seconds
        change = self._change(self._late, is_late(eta, self.began, until, now), now)
        if change is Change.BEGAN:
            assert eta is not None
            by = f"by {self.settings.until}" if self.settings.until else "in time"
            notice = messages.late(self.run_id, known.to_go or 0, eta, until - now, by)
            self._tell(self._late, Told.LATE, notice, self._worst_picture(db))
        elif change is Change.ENDED:
            self.board.header.told &= ~Told.LATE

    def _look_at_groups(self, db: Database) -> None:
        now = time.monotonic()
        if now < max(self._groups_at, self._try_at):
            return
        groups = new_groups.take(db, self.run_id, self.settings.notify_group)
        if not groups:
            return
        self._groups_at = now + BETWEEN_GROUPS_SECONDS
        worst, errors_dir = groups[0].fingerprint, self.settings.errors_dir
        picture = _ask(db, lambda: new_groups.picture_of(db, worst, errors_dir))
        if not self._send(messages.new_groups(self.run_id, groups), picture):
            new_groups.give_back(db, groups)
            self._groups_at = 0.0

    def _change(self, condition: Condition, holds: bool | None, now: float) -> Change | None:
        """Look at a condition; one that begins while nobody can be told begins later."""
        if holds and not condition.is_told and now < self._try_at:
            return None
        return condition.look(holds, now)

    def _tell(self, condition: Condition, bit: Told, notice: Notice, picture: Path | None) -> None:
        # Before it is sent: whoever is killed over it had better be silent than repeat it.
        self.board.header.told |= bit
        if not self._send(notice, picture):
            self.board.header.told &= ~bit
            condition.is_told = False

    def _worst_picture(self, db: Database) -> Path | None:
        errors_dir = self.settings.errors_dir
        return _ask(db, lambda: new_groups.worst_picture(db, self.run_id, errors_dir))

    def _send(self, notice: Notice, picture: Path | None = None) -> bool:
        """Send a notice; when nobody takes it, say so once and leave it alone for a while."""
        header = self.board.header
        is_said = bool(header.told & Told.SILENCE)
        urls, notice = self.settings.notify, replace(notice, picture=picture)
        sent = send_in_child(urls, lambda: notice, SEND_SECONDS, is_quiet=is_said)
        if not sent.is_complete:
            header.told |= Told.SILENCE
        if sent.is_taken:
            self._failures, self._try_at = 0, 0.0
            return True
        self._failures += 1
        wait = backoff_seconds(self._failures, RETRY_SECONDS, MAX_RETRY_SECONDS)
        self._try_at = time.monotonic() + wait
        return False


def _ask(db: Database, question: Callable[[], T]) -> T | None:
    """Ask the database, without patience: it may be what is wrong."""
    try:
        with db.patience(0.0):
            return question()
    except DatabaseUnavailable:
        return None
