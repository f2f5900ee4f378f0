"""One worker's life, after the fork: connect, sweep, then claim and perform until there is no more.

The browser is started when there is something to claim, not before: a cron run that finds an empty
queue costs nothing.
"""

from __future__ import annotations

import faulthandler
import logging
import shutil
import signal
import time
from functools import partial

from worker import log
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.session import BrowserSession
from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.drain import Drain
from worker.claiming.gate import Gate
from worker.database.client import Database
from worker.errors import DatabaseUnavailable, NightshiftError
from worker.execution.executor import Executor
from worker.execution.proxy_use import ProxyUse
from worker.execution.stop_request import StopRequest
from worker.models import Candidate, Owner, Partition, Status
from worker.profiles import caretaker
from worker.queue import journal, pause, runs
from worker.queue.claims import Queue
from worker.queue.outcome_writer import OutcomeWriter
from worker.recovery import leftovers, sweep
from worker.settings import RunSettings
from worker.system.board import Board, Phase
from worker.tasks import registry

EXIT_DRAINED = 0
EXIT_CANNOT_WORK = 69
MIN_IDLE_SECONDS = 0.05
MAX_IDLE_SECONDS = 0.5
PAUSE_SECONDS = 0.2
PROFILES_SECONDS = 2.0

logger = logging.getLogger("nightshift.worker")


def worker_main(settings: RunSettings, run_id: int, slot: int, board: Board) -> int:
    """Be the worker of a slot; return the exit code that tells the launcher how it went."""
    log.configure(f"worker {slot}", logging.WARNING if settings.quiet else logging.INFO)
    stop = StopRequest()
    stop.listen()
    # When this process is stuck beyond rescue, the launcher asks where.
    faulthandler.register(signal.SIGUSR2, all_threads=True)
    try:
        return WorkerLoop(settings, run_id, slot, board, stop).run()
    except NightshiftError as error:
        if stop.is_stopping and isinstance(error, DatabaseUnavailable):
            return EXIT_DRAINED
        logger.error("%s", error)
        return EXIT_CANNOT_WORK


class WorkerLoop:
    """A worker between its fork and its end."""

    def __init__(
        self, settings: RunSettings, run_id: int, slot: int, board: Board, stop: StopRequest
    ) -> None:
        self._settings = settings
        self._run_id = run_id
        self._partition = Partition(slot, settings.total)
        self._journal = journal.folder_of(settings.state_dir, settings.database)
        self._header = board.header
        self._entry = board.entries[slot - settings.offset]
        self._before = board.entries[: slot - settings.offset]
        self._stop = stop
        self._typical_seconds = 0.0
        self._mind_profiles_at = 0.0
        self._db = Database(
            settings.database,
            patience_seconds=float("inf"),
            keep_waiting=self._is_worth_waiting,
        )
        self._queue = Queue.of_run(self._db, settings)
        self._closures = ClosedKeys(self._db)
        self._candidates = Candidates(
            self._db,
            self._partition,
            help_others=settings.help_others,
            closures=self._closures,
            news=self._news,
            is_first=self._is_first,
        )
        self._drain = Drain(
            self._db,
            self._partition,
            self._closures,
            self._candidates,
            help_others=settings.help_others,
            wait_seconds=settings.wait_retries_seconds,
            is_stopping=lambda: self._stop.is_stopping,
        )
        self._gate = Gate(
            self._db,
            self._queue,
            self._closures,
            canary_seconds=settings.job_timeout_seconds + settings.hang_grace_seconds,
            breaker_cooldown_seconds=settings.breaker_cooldown_seconds,
        )

    def run(self) -> int:
        """Work until the queue is drained or the launcher says stop."""
        tasks = registry.load(self._settings.tasks)
        owner = Owner(
            self._partition.slot, runs.start_worker(self._db, self._run_id, self._partition.slot)
        )
        self._entry.incarnation = owner.incarnation
        self._sweep()
        if pause.paused(self._db) is not None:
            # The heart has perhaps not looked yet; from now on it keeps this true.
            self._header.is_paused = True
        session = self._session()
        self._stop.on_abandon = session.kill
        performer = Executor(
            settings=self._settings,
            run_id=self._run_id,
            owner=owner,
            queue=self._queue,
            gate=self._gate,
            settler=OutcomeWriter(self._db, self._queue, self._journal, owner.incarnation),
            registry=tasks,
            session=session,
            rotation=ProxyUse(self._db, session, self._settings.proxy_cooldown_seconds),
            entry=self._entry,
            stop=self._stop,
        )
        try:
            self._work(performer)
            self._entry.phase = Phase.STOPPING
        finally:
            session.close()
            shutil.rmtree(session.options.tmp_dir, ignore_errors=True)
        runs.end_worker(self._db, owner.incarnation, "finished")
        return EXIT_DRAINED

    def _work(self, performer: Executor) -> None:
        idle_seconds = MIN_IDLE_SECONDS
        while not self._stop.is_stopping:
            self._mind_profiles(performer)
            if self._header.is_paused:
                self._entry.phase = Phase.PAUSED
                self._stop.wait(PAUSE_SECONDS)
            elif self._candidates.has_next() or self._candidates.has_impatient():
                if self._is_time_up():
                    self._header.is_time_up = True
                    return
                idle_seconds = MIN_IDLE_SECONDS
                self._work_on(performer)
            else:
                self._entry.phase = Phase.IDLE
                if not self._settings.follow and self._drain.is_over():
                    return
                self._stop.wait(idle_seconds)
                idle_seconds = min(idle_seconds * 2, MAX_IDLE_SECONDS)

    def _work_on(self, performer: Executor) -> None:
        """Claim a job and perform it, and every further one that came with the one before."""
        if not performer.session.is_alive:
            # Without a browser a worker has not booted, however long it has waited for work.
            self._entry.phase = Phase.BOOTING
        performer.make_ready()
        self._entry.phase = Phase.IDLE
        # A browser takes a second or two to start, and the word may have come meanwhile.
        claim = None
        if self._may_claim():
            claim = self._gate.claim(performer.owner, self._candidates)
        while claim is not None:
            began = time.monotonic()
            claim = performer.perform(claim, partial(self._following, performer))
            self._learn_pace(time.monotonic() - began)

    def _following(self, performer: Executor) -> Candidate | None:
        """Name the job to claim together with a settlement, without asking the database."""
        if performer.is_look_due or not self._may_claim():
            return None
        return self._candidates.at_hand()

    def _news(self) -> tuple[int, int] | None:
        header = self._header
        return (header.pending - header.waiting, header.promoted) if header.counted_at else None

    def _is_first(self) -> bool:
        return all(entry.phase != Phase.IDLE for entry in self._before)

    def _may_claim(self) -> bool:
        return not (self._stop.is_stopping or self._header.is_paused or self._is_time_up())

    def _is_time_up(self) -> bool:
        """Whether a job started now would likely not be finished when the run's time is over."""
        until = self._header.claim_until
        return bool(until) and time.monotonic() + self._typical_seconds > until

    def _learn_pace(self, seconds: float) -> None:
        # Long jobs weigh at once, short ones slowly: better to leave a job than to break it off.
        share = 0.5 if seconds > self._typical_seconds else 0.1
        if not self._typical_seconds:
            share = 1.0
        self._typical_seconds += share * (seconds - self._typical_seconds)

    def _is_worth_waiting(self) -> bool:
        """Whether to wait on for an absent database: with an outcome in hand, or until stop."""
        if self._stop.is_abandoning:
            return False
        return bool(self._entry.job_id) or not self._stop.is_stopping

    def _sweep(self) -> None:
        for item in sweep.sweep(
            self._db,
            self._queue,
            journal_folder=self._journal,
            server_grace_seconds=self._settings.server_grace_seconds,
        ):
            self._entry.swept += 1
            self._entry.failed += item.status is Status.ERROR
            logger.warning("swept job %s to %s: %s", item.job_id, item.status, item.reason)
        for profile, reason in sweep.sweep_profiles(self._db, self._settings.server_grace_seconds):
            logger.warning("swept profile %s: %s", profile, reason)

    def _mind_profiles(self, performer: Executor) -> None:
        """Check stale profiles now and then, so that their jobs can go on."""
        if time.monotonic() < self._mind_profiles_at:
            return
        caretaker.check_stale(
            self._db, performer.session.stop_profile, f"worker {performer.owner.slot}"
        )
        self._mind_profiles_at = time.monotonic() + PROFILES_SECONDS

    def _session(self) -> BrowserSession:
        tmp_dir = self._settings.state_dir / "tmp" / leftovers.folder_name(self._partition.slot)
        return BrowserSession(
            BrowserOptions(
                tmp_dir=tmp_dir,
                executable=find_browser(self._settings.browser),
                headless=self._settings.headless,
                page_timeout_seconds=self._settings.page_timeout_seconds,
                state_dir=self._settings.state_dir,
            )
        )
