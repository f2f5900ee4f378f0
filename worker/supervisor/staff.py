"""The launcher's helping children beside heart and workers: each is started when it is needed."""

from __future__ import annotations

import time
from collections.abc import Callable

from worker.evidence import to_copy
from worker.settings import RunSettings
from worker.supervisor.child_link import ChildLink
from worker.supervisor.courier import LAST_DELIVERY_SECONDS, Courier
from worker.supervisor.lookout import LAST_LOOK_SECONDS, Lookout
from worker.supervisor.patient_fork import PatientFork
from worker.supervisor.porter import LAST_COPIES_SECONDS, Porter
from worker.system.board import Board

EVIDENCE_SECONDS = 1.0


class Staff:
    """Courier, lookout and porter of one run; `output` is where they write their lines."""

    def __init__(
        self,
        settings: RunSettings,
        board: Board,
        run_id: int,
        output: int,
        fork: PatientFork,
        say: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._header = board.header
        self._say = say
        self._look_at = 0.0
        self._courier = ChildLink(
            lambda link: Courier(settings.database, link).main(), output, fork
        )
        began = time.monotonic()
        self._lookout = ChildLink(
            lambda link: Lookout(settings, board, run_id, began, link).main(), output, fork
        )
        self._porter = ChildLink(lambda link: Porter(settings.state_dir, link).main(), output, fork)

    def start_if_needed(self) -> None:
        """Fork each child that has something to do and is not there."""
        self._start_courier()
        self._lookout.start_if_needed(bool(self._settings.notify))
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + EVIDENCE_SECONDS
            self._porter.start_if_needed(not to_copy.is_empty(self._settings.state_dir))

    def died(self, pid: int, code: int) -> None:
        """Note that a process has ended, if it was one of these."""
        for link in (self._courier, self._lookout, self._porter):
            if link.pid == pid:
                link.died(code)

    def end(self, *, is_in_a_hurry: bool) -> None:
        """Give each a moment for what the last jobs have left to do, unless there is a hurry."""
        if not is_in_a_hurry:
            self._start_courier()
            self._porter.start_if_needed(not to_copy.is_empty(self._settings.state_dir))
        self._courier.stop(0.0 if is_in_a_hurry else LAST_DELIVERY_SECONDS)
        self._lookout.stop(0.0 if is_in_a_hurry else LAST_LOOK_SECONDS)
        self._porter.stop(0.0 if is_in_a_hurry else LAST_COPIES_SECONDS)
        if not to_copy.is_empty(self._settings.state_dir):
            self._say("not all evidence is in the shared place yet; the next run here copies it")

    def _start_courier(self) -> None:
        self._courier.start_if_needed(bool(self._header.has_due_events))
