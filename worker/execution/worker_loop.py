"""One worker's life, after the fork: connect, sweep, then claim, execute and settle job by job.

The browser is started when there is a job with a page to claim, not before: a cron run that finds
an empty queue costs nothing.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import shutil
import signal
import time

from worker import log
from worker.browser.browser_choice import BrowserChoice
from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.gate import Gate
from worker.claiming.scope import Scope
from worker.database.client import Database, DatabaseError
from worker.errors import (
    AccessDenied,
    BrowserAway,
    DatabaseUnavailable,
    LaunchFailed,
    NightshiftError,
)
from worker.evidence import known_secrets, to_copy
from worker.execution import idling, live_view, tally
from worker.execution.browser_upkeep import BrowserUpkeep, new_session
from worker.execution.executor import Executor
from worker.execution.job_pace import Pace
from worker.execution.job_wishes import JobWishes
from worker.execution.preparation import Foresight
from worker.execution.proxy_use import ProxyUse
from worker.execution.share import Share
from worker.execution.stop_request import StopRequest
from worker.execution.verdict import is_plain_failure
from worker.exit_codes import WorkerExit
from worker.models import Candidate, Claim, Ending, Outcome, Owner, Rejection, Status
from worker.profiles import caretaker
from worker.queue import journal, pause, runs
from worker.queue.claims import Queue
from worker.queue.outcome_writer import OutcomeWriter
from worker.recovery import sweep
from worker.recovery.places import Places
from worker.settings import RunSettings
from worker.system import garbage
from worker.system.board import Board, Phase
from worker.system.private_environment import secrets_of
from worker.tasks import registry
from worker.tracing import attempt_spans

PAUSE_SECONDS = 0.2
PROFILES_SECONDS = 2.0

logger = logging.getLogger("nightshift.worker")


def worker_main(settings: RunSettings, run_id: int, slot: int, board: Board) -> int:
    """Be the worker of a slot; return the exit code that tells the launcher how it went."""
    log.configure(f"worker {slot}", logging.WARNING if settings.quiet else logging.INFO)
    known_secrets.keep([settings.database.password, *secrets_of(os.environ)])
    if (place := board.allotment.place_of(slot)) is None:
        # It was given away while this process was forked.
        return WorkerExit.STOPPED
    stop = StopRequest()
    stop.listen()
    # When this process is stuck beyond rescue, the launcher asks where.
    faulthandler.register(signal.SIGUSR2, all_threads=True)
    try:
        return WorkerLoop(settings, run_id, slot, board, stop, place).run()
    except DatabaseError:
        logger.exception("the database refused what should be right")
        return WorkerExit.NO_DATABASE
    except NightshiftError as error:
        is_database = isinstance(error, DatabaseUnavailable)
        if is_database and stop.is_stopping:
            return WorkerExit.STOPPED
        logger.error("%s", error)
        if isinstance(error, LaunchFailed) and error.is_passing:
            return WorkerExit.SHORT_OF_SOMETHING
        can_come_back = is_database and not isinstance(error, AccessDenied)
        return WorkerExit.NO_DATABASE if can_come_back else WorkerExit.CANNOT_WORK


class WorkerLoop:
    """A worker between its fork and its end."""

    def __init__(
        self, settings: RunSettings, run_id: int, slot: int, board: Board, stop: StopRequest,
        place: int | None = None,
    ) -> None:  # fmt: skip
        self._settings = settings
        self._header = board.header
        # A slot may be taken from its place at any moment: the entry is the place's for good.
        self._entry = board.entries[board.allotment.place_of(slot) or 0 if place is None else place]
        self._stop = stop
        self._pace = Pace(board.header)
        self._mind_profiles_at = 0.0
        self._tasks = registry.load(settings.tasks)
        self._db = Database(
            settings.database, patience_seconds=float("inf"), keep_waiting=self._is_worth_waiting
        )
        self.owner = Owner(slot, runs.start_worker(self._db, run_id, slot))
        self._entry.incarnation = self.owner.incarnation
        self._queue = Queue.of_run(self._db, settings, self._tasks.caps)
        own = Scope.of(settings, self._tasks.names, self._tasks.without_browser)
        self._closures = ClosedKeys(self._db, own)
        self._share = Share(
            self._db, settings, slot, board, self._closures, lambda: stop.is_stopping,
            Foresight(self._tasks, self._queue, self.owner).ending_of,
        )  # fmt: skip
        self.gate = Gate.of_run(self._db, self._queue, self._closures, settings)
        browser = BrowserChoice.of_run(settings)
        self._session = new_session(browser, settings, slot)
        self._upkeep = BrowserUpkeep(settings, self._session, self._entry, own.without_browser)
        self._proxy_use = ProxyUse(self._db, self._session, settings.proxy_cooldown_seconds)
        self._executor = Executor(
            settings, run_id, self.owner, self._tasks, self._entry, stop,
            db=self._db, gate=self.gate, session=self._session, proxy_use=self._proxy_use,
            wishes=(wishes := JobWishes(browser.wishes)),
        )  # fmt: skip
        self._session.foresee = lambda: wishes.foreseen(self.candidates.peek(), self._tasks)
        # After the task files, which may set up what it uses.
        self._spans = attempt_spans.of_run(settings.otel, run_id, self.owner)
        folder = journal.folder_of(settings.state_dir, settings.database)
        self._writer = OutcomeWriter(self._db, self._queue, folder, self.owner, self._is_in_a_hurry)
        garbage.collect_seldom()

    @property
    def candidates(self) -> Candidates:
        """The next jobs, by this worker's share of them."""
        return self._share.candidates

    def run(self) -> int:
        """Work until the queue is drained or the launcher says stop."""
        self._sweep()
        if pause.holds(self._db, self._settings.queues) is not None:
            # The heart has perhaps not looked yet; from now on it keeps this true.
            self._header.is_paused = True
        self._stop.on_abandon = self._session.kill
        self._stop.on_withdrawal = self._executor.end_if_withdrawn
        live_view.connect(self._session.live, self._settings, self._header, self._entry)
        try:
            is_drained = self._work()
            self._tell_of_strangers()
            self._entry.phase = Phase.STOPPING
        finally:
            self._session.close()
            shutil.rmtree(self._session.options.tmp_dir, ignore_errors=True)
            self._spans.close()
        runs.end_worker(self._db, self.owner.incarnation, "finished")
        return WorkerExit.DRAINED if is_drained else WorkerExit.STOPPED

    def do(self, found: Claim | Rejection) -> Claim | None:
        """Do one job and settle it; return the claim on the next one, if one came with it.

        Raises LaunchFailed, after handing the job back, when there is no browser.
        """
        claim = found.claim if isinstance(found, Rejection) else found
        with self._spans.of(claim, is_known=self._tasks.find(claim.task) is not None) as span:
            if isinstance(found, Rejection):
                ending = self._executor.explain(found)
            else:
                ending = self._executor.execute(found)
            span.note(ending, self._executor.error_type)
            self._entry.phase = Phase.SETTLING
            written = self._writer.write(claim, ending, self._following(claim, ending))
            if written.refused is not None:
                ending = self._executor.keep_evidence(claim, written.refused)
                written = self._writer.write_instead(claim, ending)
            span.settle(written.settlement)
        if ending.evidence is not None:
            to_copy.add(self._settings.state_dir, self._settings.errors_dir, ending.evidence)
        # In this order: a finished job that is still shown here is counted by the heart.
        self._entry.end_job()
        is_good = False
        if written.settlement is not None:
            tally.count(self._entry, written.settlement)
            tally.say(claim, ending, written.settlement, self._settings.errors_dir)
            is_good = written.settlement.status is Status.DONE and not self._stop.is_stopping
        self._executor.let_go(claim, ending, is_good=is_good)
        self.candidates.follow_ups.note(claim)
        if self._executor.launch_failure is not None:
            raise self._executor.launch_failure
        return written.following

    def work_on(self) -> None:
        """Claim a job and do it, and every further one that came with the one before."""
        try:
            self._work_on()
        except BrowserAway as away:
            # Whatever job it was is handed back.
            self._executor.launch_failure = None
            self._upkeep.wait_for_browser(away, self._stop)

    def _work_on(self) -> None:
        self._make_ready()
        # A browser takes a second or two to start, and the word may have come meanwhile.
        found = self.gate.claim(self.owner, self.candidates) if self._may_claim() else None
        while found is not None:
            began = time.monotonic()
            found = self.do(found)
            self._pace.learn(time.monotonic() - began)

    def _work(self) -> bool:
        """Do jobs until there are none, or no time for another; False when told to stop."""
        idle_seconds = 0.0
        while not (self._stop.is_stopping or self._share.is_moved):
            self._mind_profiles()
            self._tell_of_strangers()
            self._share.follow()
            if self._header.is_paused or not self._share.is_held:
                self._entry.phase = Phase.PAUSED if self._header.is_paused else Phase.IDLE
                self._upkeep.idle()
                self._stop.wait(PAUSE_SECONDS)
            elif self._has_next():
                if self._pace.is_time_up:
                    self._header.is_time_up = True
                    return True
                idle_seconds = 0.0
                self.work_on()
            else:
                self._entry.phase = Phase.IDLE
                self._upkeep.idle()
                if not self._settings.follow and self._share.drain.is_over():
                    return True
                idle_seconds = idling.next_wait(idle_seconds, self._share.most_idle_seconds)
                self._stop.wait(idle_seconds)
        return False

    def _has_next(self) -> bool:
        found = self.candidates
        return found.has_next() or found.impatient.has_next() or found.hopeless.has_next()

    def _make_ready(self) -> None:
        """Have a good browser and a proxy, where needed, before a claim; raises LaunchFailed."""
        # First the proxies: a browser is started behind them.
        self.look_at_proxies()
        self._upkeep.make_ready(self.candidates.peek())
        self._entry.phase = Phase.IDLE

    def look_at_proxies(self) -> None:
        """Choose the proxy of the next jobs, if it is time; leave their keys alone without one."""
        if closure := self._proxy_use.look():
            self._closures.close(closure)

    def _following(self, claim: Claim, ending: Ending) -> Candidate | None:
        """Name the job to claim together with an ending, without asking the database."""
        is_plain = ending.outcome is Outcome.DONE or is_plain_failure(claim, ending)
        if not is_plain or claim.has_listener or ending.follow_ups:
            # News of an ending and jobs that it adds are written in a transaction of their own.
            return None
        if self._executor.launch_failure is not None:
            return None
        if self._closures.orders.find(claim.order_place) is not None:
            # The next of its order can be claimed when this one is done, and may come first.
            return None
        if self._upkeep.is_due(self.candidates.peek()) or self._proxy_use.is_due:
            return None
        if not self._may_claim():
            return None
        return self.candidates.at_hand()

    def _tell_of_strangers(self) -> None:
        """Let the heart know that not all jobs are this run's: it counts the others out."""
        if self._closures.has_strangers:
            self._header.has_strangers = True

    def _may_claim(self) -> bool:
        if not self._share.is_held:
            return False
        return not (self._stop.is_stopping or self._header.is_paused or self._pace.is_time_up)

    def _is_worth_waiting(self) -> bool:
        """Whether to wait on for an absent database: with an outcome in hand, or until stop."""
        if self._stop.is_abandoning:
            return False
        return self._entry.job_id is not None or not self._stop.is_stopping

    def _is_in_a_hurry(self) -> bool:
        return self._stop.is_abandoning or bool(self._header.database_away_since)

    def _sweep(self) -> None:
        settings = self._settings
        places = Places(settings.database, settings.state_dir, settings.errors_dir)
        swept = sweep.sweep_and_say(self._db, self._queue, places, settings.server_grace_seconds)
        self._entry.swept += len(swept)
        self._entry.failed += sweep.failed(swept)

    def _mind_profiles(self) -> None:
        """Check stale profiles now and then, so that their jobs can go on."""
        if time.monotonic() < self._mind_profiles_at:
            return
        caretaker.check_stale(self._db, self._session.providers.stop, f"worker {self.owner.slot}")
        self._mind_profiles_at = time.monotonic() + PROFILES_SECONDS
