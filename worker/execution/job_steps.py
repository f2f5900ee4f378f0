"""What a task says of its own progress: shown on the board, kept with its profile's lease.

An irreversible step is in the job's row before the task goes on, and on the board after that. The
next ordinary step takes it off the board first. So what the board shows, the row has too.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from worker.database.best_effort import best_effort
from worker.database.client import Database
from worker.errors import NightshiftError
from worker.evidence.redaction import redact_text
from worker.execution.profile_use import ProfileUse
from worker.execution.stop_request import StopRequest
from worker.models import Claim, StepKind
from worker.queue import irreversible
from worker.system.board import Entry

# What is over need not be written at all costs: without it, a person may look once too often.
END_SECONDS = 3.0


@dataclass(slots=True)
class JobSteps:
    """The steps of one worker's jobs, one job after the other."""

    db: Database
    entry: Entry
    profile_use: ProfileUse
    stop: StopRequest
    _irreversible: str | None = None
    _refusal: tuple[str, BaseException] | None = None
    _claim: Claim | None = None
    _kind: StepKind = StepKind.GUESSED
    _may_be_in_row: bool = False

    def enter(self, claim: Claim, *, guesses: bool) -> None:
        """Begin with another job; `guesses` says whether its steps' names are read as hints."""
        self._claim = claim
        self._kind = StepKind.GUESSED if guesses else StepKind.PLAIN
        self._irreversible, self._refusal, self._may_be_in_row = None, None, False

    def take(self, text: str) -> None:
        """Take an ordinary step, which ends an irreversible one."""
        text = redact_text(text)
        self._irreversible, self._refusal = None, None
        self.entry.show_step(text, self._kind)
        if self._may_be_in_row:
            self._end_in_row()
        self.profile_use.note_step(text, self._kind)

    def take_irreversible(self, text: str) -> None:
        """Keep what the task is about to do where no death can lose it.

        Raises when that cannot be done: then the task must not do it.
        """
        text = redact_text(text)
        try:
            self._begin_in_row(text)
        except BaseException as error:
            self._refusal = (text, error)
            raise
        self._irreversible, self._refusal = irreversible.storable(text), None
        self.entry.show_step(text, StepKind.IRREVERSIBLE)

    def irreversible_at(self, error: BaseException | None) -> str | None:
        """Name the irreversible step that the task has begun and not left, if there is one.

        A task that was refused the step and went on all the same has begun it: then what ended the
        task, `error`, is not the refusal.
        """
        if self._refusal is None:
            return self._irreversible
        text, refusal = self._refusal
        return self._irreversible if _stems_from(error, refusal) else irreversible.storable(text)

    def doubt(self, *, was_given_up: bool) -> None:
        """Think of what a task that broke off may have left half done in its profile.

        Only a task that gives its job up on purpose knows how far it got, unless it said itself
        that it was at an irreversible step.
        """
        kind = self.entry.step_kind
        if kind is StepKind.IRREVERSIBLE or not was_given_up:
            self.profile_use.doubt(self.entry.step, kind)

    def _begin_in_row(self, text: str) -> None:
        assert self._claim is not None
        if self.stop.is_abandoning:
            raise NightshiftError(f"the run was stopped before {text!r} was begun")
        # Half of the time that is left: a job that runs out of it must be able to say why.
        seconds = max(0.0, (self.entry.deadline - time.monotonic()) / 2)
        with self.db.patience(seconds):
            self.profile_use.keep_step(text, StepKind.IRREVERSIBLE)
            self._may_be_in_row = True
            irreversible.begin(self.db, self._claim, text)

    def _end_in_row(self) -> None:
        assert self._claim is not None
        what = f"that job {self._claim.job_id} has left its irreversible step was not written"
        with best_effort(self.db, what, patience_seconds=END_SECONDS, level=logging.WARNING):
            irreversible.end(self.db, self._claim)
            self._may_be_in_row = False


def _stems_from(error: BaseException | None, origin: BaseException) -> bool:
    """Whether an error is another, or was raised because of it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if error is origin:
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
