"""One slot of the pool: the process that works it now, how it ended, and when to start the next.

A slot whose worker dies is started again: at once the first time, then with growing backoff, which
is forgotten after a proven survival. One that cannot boot is given up after a few tries: the others
help its partition.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Any

from worker.backoff import backoff_seconds
from worker.exit_codes import WorkerExit
from worker.models import Outcome
from worker.supervisor.output import LineReader
from worker.supervisor.patient_fork import PatientFork
from worker.system.board import Entry, Phase
from worker.system.process_tree import ProcessId, identify, kill_group, kill_tree

MAX_BOOT_FAILURES = 3
SURVIVAL_SECONDS = 60.0
RESPAWN_SECONDS = 0.2
MAX_RESPAWN_SECONDS = 60.0
KEPT_LINES = 100
# What a report of a death may hold of its worker's last lines.
REPORTED_CHARACTERS = 50_000
AT_A_TASK = (Phase.WORKING, Phase.CAPTURING)
COUNTERS = ("done", "failed", "retried", "handed_back", "swept")


class State(Enum):
    """Where a slot stands between starts and ends of its workers."""

    WAITING = auto()
    RUNNING = auto()
    FINISHED = auto()
    GIVEN_UP = auto()


class Slot:
    """One worker after the other, never two at once."""

    def __init__(
        self,
        number: int | None,
        entry: Entry,
        main: Callable[[int], int],
        fork: Callable[[Callable[[], int], int], int | None] | None = None,
    ) -> None:
        self.number = number
        self.entry = entry
        self.state = State.WAITING
        self.pid = 0
        self.output: LineReader | None = None
        self.last_number = number
        self.crashes = 0
        # How often a worker ended because the machine had not enough of something.
        self.shortages = 0
        self.killed_as: tuple[Outcome, str] | None = None
        self.last_ending = ""
        self.last_lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._main = main
        self._fork = fork or PatientFork()
        self._totals: Counter[str] = Counter()
        self._start_at = 0.0
        self._started_at = 0.0
        self._boot_failures = 0
        self._recent_crashes = 0

    def renumber(self, number: int | None) -> None:
        """Have the next worker work another slot of the pool; None: have none for now."""
        if not self.pid:
            self.number = number

    def start_if_due(self) -> None:
        """Fork a worker if the slot has none, its backoff is over, and the machine can."""
        if self.due_in_seconds > 0:
            return
        self.entry.clear()
        self.entry.phase = Phase.BOOTING
        reader, writer = os.pipe2(os.O_CLOEXEC)
        number = self.last_number = self.number
        assert number is not None
        pid = self._fork(lambda: self._main(number), writer)
        os.close(writer)
        if pid is None:
            os.close(reader)
            return
        self.pid = pid
        self.output = LineReader(reader)
        self.killed_as = None
        self.last_lines.clear()
        self._started_at = time.monotonic()
        self.state = State.RUNNING

    @property
    def due_in_seconds(self) -> float:
        """How long until the next worker is to be started; infinite where there is one."""
        if self.state is not State.WAITING or self.number is None:
            return float("inf")
        return self._start_at - time.monotonic()

    def signal(self, number: signal.Signals) -> None:
        """Tell the worker something."""
        if self.pid:
            os.kill(self.pid, number)

    def kill(self, outcome: Outcome, reason: str) -> None:
        """End the worker with everything it has started; its job will be settled as `outcome`."""
        if not self.pid or self.killed_as is not None:
            return
        self.killed_as = (outcome, reason)
        self.kill_browser()
        kill_tree(identify(self.pid) or ProcessId(self.pid, 0))

    def kill_browser(self) -> None:
        """End what a worker may leave behind: its browser's group and its driver."""
        entry = self.entry
        if entry.browser_pid:
            kill_group(ProcessId(entry.browser_pid, entry.browser_started))
        if entry.driver_pid:
            kill_tree(ProcessId(entry.driver_pid, entry.driver_started))

    def ended(self, code: int, *, is_stopping: bool, is_out_of_memory: bool) -> dict[str, Any]:
        """Take note of the worker's end; return all that is known of it, for the heart.

        What the worker left behind is the caller's to end: its job need not wait for that.
        """
        has_booted = self.entry.phase > Phase.BOOTING
        outcome, self.last_ending = self.killed_as or (Outcome.CRASHED, describe_end(code))
        if is_out_of_memory:
            self.last_ending += ", out of memory"
        # A task may end its process with any code: only a worker outside a task means its own.
        own = None if self.entry.phase in AT_A_TASK else code
        is_drained = own == WorkerExit.DRAINED
        self.shortages += is_out_of_memory or own == WorkerExit.SHORT_OF_SOMETHING
        is_passing = own in (WorkerExit.NO_DATABASE, WorkerExit.SHORT_OF_SOMETHING)
        is_own = own in list(WorkerExit) and own != WorkerExit.CANNOT_WORK
        if is_own or (is_stopping and self.killed_as is None):
            # It ended by itself and reported everything; a claim it may still hold is not a fault.
            outcome = Outcome.HANDED_BACK
        death = self._death(outcome)
        self._totals.update({name: getattr(self.entry, name) for name in COUNTERS})
        for name in COUNTERS:
            setattr(self.entry, name, 0)
        self.pid = 0
        if is_drained or is_stopping:
            self.state = State.FINISHED
        elif is_passing:
            # What it lacked may come back, so this does not count as a failure to boot.
            self._plan_restart(has_booted=True)
        elif outcome is Outcome.HANDED_BACK:
            self.state = State.WAITING
        else:
            self.crashes += 1
            self._plan_restart(has_booted)
        return death

    def _death(self, outcome: Outcome) -> dict[str, Any]:
        entry = self.entry
        return {
            "slot": self.number,
            "incarnation": entry.incarnation,
            "outcome": outcome.value,
            "ending": self.last_ending,
            "job_id": entry.job_id,
            "fence": entry.fence,
            "label": entry.label,
            "step": entry.step,
            "step_kind": entry.step_kind.value,
            "proxy": entry.proxy,
            "browser_version": entry.browser_version,
            "died_at": datetime.now(UTC).isoformat(),
            "seconds": time.monotonic() - entry.claimed_at if entry.claimed_at else 0.0,
            "output": last_of(self.last_lines, REPORTED_CHARACTERS),
        }

    @property
    def has_worked(self) -> bool:
        """Whether there was ever something for it to do: a slot of the pool, or jobs."""
        return self.number is not None or any(self._totals.values())

    def count(self, name: str) -> int:
        """Sum one counter over all of the slot's workers."""
        current: int = getattr(self.entry, name)
        return self._totals[name] + current

    def _plan_restart(self, has_booted: bool) -> None:
        now = time.monotonic()
        if now - self._started_at > SURVIVAL_SECONDS:
            self._recent_crashes = 0
        self._recent_crashes += 1
        self._boot_failures = 0 if has_booted else self._boot_failures + 1
        if self._boot_failures >= MAX_BOOT_FAILURES:
            self.state = State.GIVEN_UP
            return
        self.state = State.WAITING
        # Its job may be waiting for the next worker, so the first death adds no wait.
        is_first = has_booted and self._recent_crashes == 1
        wait = backoff_seconds(self._recent_crashes, RESPAWN_SECONDS, MAX_RESPAWN_SECONDS)
        self._start_at = now if is_first else now + wait


def last_of(lines: Iterable[str], characters: int) -> list[str]:
    """Keep the last lines that are no longer than this together."""
    kept: deque[str] = deque()
    for line in reversed(list(lines)):
        characters -= len(line)
        if characters < 0:
            break
        kept.appendleft(line)
    return list(kept)


def describe_end(code: int) -> str:
    """Say how a process ended, from its exit code as Python gives it."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"killed by {name}"
