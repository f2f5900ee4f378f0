"""The launcher's loop: take signals, reap, watch deadlines, beat, respawn, draw.

The launcher holds no thread, no connection and no browser, and runs no stranger's code. All that
can block is done by children: the workers, the heart, which talks to the database, and the courier.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from functools import partial

from worker.database import statements
from worker.database.locks import Lock
from worker.models import Outcome
from worker.queue import journal
from worker.recovery import deaths, leftovers
from worker.settings import RunSettings
from worker.supervisor.alive_file import AliveFile
from worker.supervisor.figures import Figures
from worker.supervisor.heart import Heart
from worker.supervisor.heart_link import HeartLink
from worker.supervisor.hung_workers import HungWorkers
from worker.supervisor.lookout import Told
from worker.supervisor.onlookers import Onlookers
from worker.supervisor.oom import oom_kills
from worker.supervisor.output import LineReader
from worker.supervisor.patient_fork import PatientFork
from worker.supervisor.relay import Relay
from worker.supervisor.roster import Roster
from worker.supervisor.service_manager import ServiceManager
from worker.supervisor.signals import SignalQueue
from worker.supervisor.slot import Slot, State
from worker.supervisor.slot_keeper import allotment_of
from worker.supervisor.staff import Staff
from worker.supervisor.strays import Strays
from worker.supervisor.view import Display, Summary
from worker.system import garbage, live_wall
from worker.system.board import Board
from worker.system.fork import adopt_orphans

TICK_SECONDS = 0.2
# A worker told to hand its job back gets this long; then it is done for it.
HAND_BACK_SECONDS = 5.0
TIME_IS_OVER = "the run's time is over"

WorkerMain = Callable[[RunSettings, int, int, Board], int]


class Supervisor:
    """One run of the pool, from the first fork to the last reaped child."""

    def __init__(
        self,
        settings: RunSettings,
        run_id: int,
        worker_main: WorkerMain,
        display: Display,
        locks: tuple[Lock, ...] = (),
        service: ServiceManager | None = None,
    ) -> None:
        self._settings = settings
        self._run_id = run_id
        self._display = display
        self._service = service or ServiceManager()
        self._alive_file = AliveFile(settings.state_dir)
        self._board = Board(settings.workers, allotment_of(settings))
        self._signals = SignalQueue()
        self._stopped_by: str | None = None
        self._abandon_at = float("inf")
        self._kill_at = float("inf")
        self._oom_kills = oom_kills()
        self._strays = Strays()
        if settings.max_runtime_seconds is not None:
            self._board.header.claim_until = time.monotonic() + settings.max_runtime_seconds
        reader, writer = os.pipe2(os.O_CLOEXEC)
        fork = PatientFork(display.say)
        self._heart = HeartLink(
            lambda link: Heart(settings, self._board, run_id, link, locks).main, writer, fork
        )
        self._staff = Staff(settings, self._board, run_id, writer, fork, display.say)
        main = partial(worker_main, settings, run_id)
        self._slots = [
            Slot(number, entry, lambda slot: main(slot, self._board), fork)
            for number, entry in zip(self._board.allotment.slots, self._board.entries, strict=True)
        ]
        self._hung = HungWorkers(settings, self._board.header, self._slots)
        self._relay = Relay(display, self._slots, LineReader(reader))
        wall = live_wall.folder_of(settings.state_dir, settings.database.key)
        self._onlookers = Onlookers(wall if settings.live_pictures else None, self._board.header)
        self._roster = Roster(settings, self._board, self._slots, display.say)
        self._figures = Figures(run_id, self._board.header, self._slots, self._roster)

    def run(self) -> Summary:
        """Run the pool until it has drained or is told to stop; leave no process behind."""
        adopt_orphans()
        # Every child inherits them: whatever is installed meanwhile, they fit this code.
        statements.load()
        garbage.share_with_children()
        self._clean_up()
        self._board.header.renewed_at = time.monotonic()
        self._heart.start_if_dead()
        try:
            while not self._is_over():
                self._take_signals()
                self._reap()
                self._watch_deadlines()
                self._onlookers.look()
                self._heart.start_if_dead()
                self._staff.start_if_needed()
                self._roster.look(is_held_up=self._is_held_up)
                self._respawn()
                self._draw()
                self._tell_service()
                self._wait()
        finally:
            self._end_everything()
        # Workers leave by themselves when there is no time for another job.
        has_run_out = TIME_IS_OVER if self._board.header.is_time_up else None
        return self._figures.summary(self._stopped_by or has_run_out)

    @property
    def is_silence_said(self) -> bool:
        """Whether it was said already that somebody could not be told."""
        return bool(self._board.header.told & Told.SILENCE)

    def _is_over(self) -> bool:
        # Where others hold all slots, a run waits for one of them.
        has_begun = any(slot.state is not State.WAITING for slot in self._slots)
        if self._stopped_by and not any(slot.pid for slot in self._slots):
            return True
        return has_begun and all(
            slot.number is None or slot.state in (State.FINISHED, State.GIVEN_UP)
            for slot in self._slots
        )

    def _take_signals(self) -> None:
        for number in self._signals.take():
            if number is signal.SIGUSR1:
                self._display.say(self._figures.status_line())
            elif number is not signal.SIGCHLD:
                self._stop(number.name)

    def _stop(self, cause: str) -> None:
        now = time.monotonic()
        if self._stopped_by is not None:
            self._display.say(f"{cause} again: handing everything back now")
            self._abandon_at = self._kill_at = now
            return
        self._stopped_by = cause
        self._service.stopping()
        self._abandon_at = now + self._settings.grace_seconds
        self._kill_at = self._abandon_at + HAND_BACK_SECONDS
        self._display.say(
            f"{cause}: claiming nothing more, finishing what is in flight "
            f"(up to {self._settings.grace_seconds:g} s; once more to stop at once)"
        )
        self._tell_workers()

    def _tell_workers(self) -> None:
        for slot in self._slots:
            slot.signal(signal.SIGTERM)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            if pid == self._heart.pid:
                self._heart.died()
            self._staff.died(pid, code)
            for slot in self._slots:
                if slot.pid == pid:
                    self._bury(slot, code)

    def _bury(self, slot: Slot, code: int) -> None:
        pid = slot.pid
        self._relay.drain(slot)
        kills, self._oom_kills = self._oom_kills, oom_kills()
        death = slot.ended(
            code,
            is_stopping=self._stopped_by is not None,
            is_out_of_memory=code == -signal.SIGKILL and self._oom_kills > kills,
        )
        # First of all: somebody may take up its job while the rest is cleared away here.
        if death["incarnation"]:
            self._heart.report_death(death)
            self._onlookers.forget(death["incarnation"])
        slot.kill_browser()
        self._tell_of_strays(self._strays.end_group_of(pid, driver=slot.entry.driver_pid))
        self._clean_up()
        if slot.state is State.GIVEN_UP:
            self._display.say(
                f"worker {slot.number} is given up: it could not start "
                f"({death['ending']}); the others take over its share"
            )
        elif slot.state is State.WAITING:
            if self._board.allotment.place_of(slot.number) is None:
                is_auto = self._settings.finds_number
                why = "it rests" if is_auto else "its slot went to another worker"
                self._display.say(f"worker {slot.number} ended: {why}")
            else:
                self._display.say(f"worker {slot.number} {death['ending']}; starting it again")

    def _clean_up(self) -> None:
        left = leftovers.clean_up(self._settings.state_dir / "tmp")
        if left.processes:
            self._display.say(f"ended {_processes(left.processes)} that dead workers had left")

    def _tell_of_strays(self, count: int) -> None:
        if count:
            self._display.say(f"ended what tasks had left behind: {_processes(count)}")

    def _watch_deadlines(self) -> None:
        self._hung.end_overdue()
        self._heart.kill_if_stopped(self._settings.lease_seconds / 3)
        now = time.monotonic()
        claim_until = self._board.header.claim_until
        if claim_until and now >= claim_until and self._stopped_by is None:
            self._stop(TIME_IS_OVER)
        if now >= self._abandon_at:
            self._abandon_at = float("inf")
            self._tell_workers()
        if now >= self._kill_at:
            for slot in self._slots:
                reason = f"handed back: the run was stopped ({self._stopped_by})"
                slot.kill(Outcome.HANDED_BACK, reason)

    @property
    def _may_start_workers(self) -> bool:
        return self._stopped_by is None and not self._hung.is_lease_ending

    @property
    def _is_held_up(self) -> bool:
        header = self._board.header
        is_waiting = header.is_paused or header.database_away_since
        return bool(is_waiting) or not self._may_start_workers

    def _respawn(self) -> None:
        if self._may_start_workers:
            for slot, number in zip(self._slots, self._board.allotment.slots, strict=True):
                slot.renumber(number)
                slot.start_if_due()

    def _draw(self) -> None:
        self._display.update(self._figures.view(is_stopping=self._stopped_by is not None))

    def _tell_service(self) -> None:
        if any(slot.pid for slot in self._slots):
            self._service.ready(self._figures.status_line())
        self._service.beat(self._figures.status_line)
        self._alive_file.touch()

    def _wait(self) -> None:
        waiting = [self._signals.fileno(), *self._relay.filenos()]
        heart = self._heart.fileno()
        readers = waiting if heart is None else [*waiting, heart]
        writers = [heart] if heart is not None and self._heart.has_unsent else []
        ready, _, _ = select.select(readers, writers, [], self._wait_seconds())
        self._relay.take_turn(ready)
        self._heart.send()
        self._heart.listen()

    def _wait_seconds(self) -> float:
        if not self._may_start_workers:
            return TICK_SECONDS
        next_start = min(slot.due_in_seconds for slot in self._slots)
        # What is overdue cannot be started now.
        return min(TICK_SECONDS, next_start) if next_start > 0 else TICK_SECONDS

    def _end_everything(self) -> None:
        self._service.loop_is_over()
        for slot in self._slots:
            slot.kill(Outcome.HANDED_BACK, "handed back: the launcher is ending")
        deadline = time.monotonic() + HAND_BACK_SECONDS
        while any(slot.pid for slot in self._slots) and time.monotonic() < deadline:
            self._reap()
            self._wait()
        self._heart.stop(seconds=HAND_BACK_SECONDS)
        for death in self._heart.unsettled():
            # The database is away: the next start settles it.
            deaths.keep(journal.folder_of(self._settings.state_dir, self._settings.database), death)
        self._staff.end(is_in_a_hurry=time.monotonic() >= self._kill_at)
        self._relay.drain(None)
        self._tell_of_strays(self._strays.end_all())
        self._reap()
        self._clean_up()
        self._onlookers.close()
        self._display.close()


def _processes(count: int) -> str:
    return f"{count} process{'es' * (count != 1)}"
