"""Which workers the launcher kills, when, and what becomes of their jobs.

A job past its timeout and the grace costs its worker's life: first it shows its Python stack. So
does a worker that somebody has stopped, and a job whose lease cannot be renewed goes back in time.
One whose job was cancelled is told first. Kills go to worker, driver and browser: `Slot.kill`.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence

from worker.models import Outcome, StepKind
from worker.settings import RunSettings
from worker.supervisor.slot import Slot
from worker.supervisor.stopped import StoppedClock
from worker.system.board import Entry, Header, Phase

# The kernel delivers the signal and faulthandler writes within this.
DUMP_SECONDS = 0.5
# The leases must outlive the work: stop it when this share of them has passed unrenewed.
LEASE_SHARE = 0.8
# A task whose browser was killed ends within 1.4 s; one that waits for something else may not.
WITHDRAWN_SECONDS = 3.0

Attempt = tuple[int, int | None, int]


class HungWorkers:
    """Looks at all workers' entries on the board, at every turn of the loop."""

    def __init__(self, settings: RunSettings, header: Header, slots: Sequence[Slot]) -> None:
        self._settings = settings
        self._header = header
        self._watches = [_Watch(slot, settings.hang_grace_seconds) for slot in slots]

    def end_overdue(self) -> None:
        """Kill each worker that is past its time."""
        is_lease_ending = self.is_lease_ending
        for watch in self._watches:
            watch.look(is_lease_ending=is_lease_ending)

    @property
    def is_lease_ending(self) -> bool:
        """Whether claims must be given up now, lest they be somebody else's soon."""
        unrenewed = time.monotonic() - self._header.renewed_at
        return unrenewed > self._settings.lease_seconds * LEASE_SHARE


class _Watch:
    """One slot's worker, as it is watched."""

    def __init__(self, slot: Slot, grace_seconds: float) -> None:
        self._slot = slot
        self._grace_seconds = grace_seconds
        self._stopped = StoppedClock()
        self._dumped: Attempt | None = None
        self._dumped_at = 0.0
        self._told: Attempt | None = None
        self._told_at = 0.0

    def look(self, *, is_lease_ending: bool) -> None:
        slot, entry = self._slot, self._slot.entry.snapshot()
        if not slot.pid:
            return
        # A torn entry shows two jobs in one. Its worker is between them, hence not at work.
        has_job = entry.job_id is not None and not entry.is_torn
        is_at_work = has_job and entry.phase < Phase.SETTLING
        if not is_at_work:
            self._kill_if_stopped()
        elif entry.is_withdrawn and entry.step_kind is not StepKind.IRREVERSIBLE:
            self._end_withdrawn(entry)
        elif time.monotonic() > entry.deadline + self._grace_seconds:
            self._kill_hung(entry)
        elif is_lease_ending:
            # What is finished and only waits to be written may wait on: its fence guards it.
            slot.kill(Outcome.HANDED_BACK, "handed back: its lease could not be renewed")

    def _kill_hung(self, entry: Entry) -> None:
        """Let a stuck worker show its Python stack, then end it as timed out."""
        now, attempt = time.monotonic(), _attempt(entry)
        if self._dumped != attempt:
            self._dumped, self._dumped_at = attempt, now
            self._slot.signal(signal.SIGUSR2)
        elif now - self._dumped_at > DUMP_SECONDS:
            self._slot.kill(
                Outcome.TIMED_OUT,
                f"stuck {now - entry.claimed_at:.0f} s in {entry.label}, "
                f"past its timeout; killed by the launcher",
            )

    def _end_withdrawn(self, entry: Entry) -> None:
        """Have a task ended whose job was cancelled, by its worker or with it."""
        now, attempt = time.monotonic(), _attempt(entry)
        if self._told != attempt:
            self._told, self._told_at = attempt, now
            self._slot.signal(signal.SIGUSR1)
        elif now - self._told_at > WITHDRAWN_SECONDS:
            self._slot.kill(
                Outcome.HANDED_BACK,
                f"was ended: job {entry.job_id} was cancelled or taken away, and its task went on",
            )

    def _kill_if_stopped(self) -> None:
        """End a worker that was stopped outside a job, where no deadline of a job ends it."""
        seconds = self._stopped.seconds(self._slot.pid)
        if seconds > self._grace_seconds:
            self._slot.kill(
                Outcome.TIMED_OUT, f"stopped for {seconds:.0f} s; killed by the launcher"
            )


def _attempt(entry: Entry) -> Attempt:
    """Tell one attempt from all others: fences are counted for each job."""
    return entry.incarnation, entry.job_id, entry.fence
