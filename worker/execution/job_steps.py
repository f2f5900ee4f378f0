"""What a task says of its own progress: shown on the board, kept with its profile's lease.

An irreversible step is in the job's row before the task goes on, and on the board after that. The
next ordinary step takes it off the board first. So what the board shows, the row has too. It stays
in the row as taken: no later attempt takes it again.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

from worker.database.best_effort import best_effort
from worker.database.client import Database
from worker.errors import NightshiftError, StepTaken
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
    # Left behind as taken, and not yet written so; and refused, before the steps after that.
    _left: str | None = None
    _refused: list[tuple[str, BaseException]] = field(default_factory=list)
    # What this attempt has begun: it may do so again. And what an earlier one has taken.
    _begun: set[str] = field(default_factory=set)
    _taken_before: str | None = None

    def enter(self, claim: Claim, *, guesses: bool) -> None:
        """Begin with another job; `guesses` says whether its steps' names are read as hints."""
        self._claim = claim
        self._kind = StepKind.GUESSED if guesses else StepKind.PLAIN
        self._irreversible, self._refusal, self._may_be_in_row = None, None, False
        self._left, self._refused, self._begun, self._taken_before = None, [], set(), None

    def take(self, text: str) -> None:
        """Take an ordinary step, which leaves an irreversible one behind as taken."""
        self._left = self._irreversible or self._left
        self._refused += [self._refusal] if self._refusal is not None else []
        self._take(text)

    def take_undone(self, text: str) -> None:
        """Take an ordinary step that says that nothing came of the irreversible one."""
        if self._refusal is not None:
            # That is said of the step that was refused, not of the one before.
            self._left = self._irreversible or self._left
        self._take(text)

    def _take(self, text: str) -> None:
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
            if isinstance(error, StepTaken):
                self._taken_before = error.step
            raise
        self._irreversible, self._refusal = irreversible.storable(text), None
        self._begun.add(self._irreversible)
        self.entry.show_step(text, StepKind.IRREVERSIBLE)

    def irreversible_at(self, error: BaseException | None) -> str | None:
        """Name the irreversible step that the task has begun and not left, if there is one.

        A task that was refused the step and went on all the same has begun it: then what ended the
        task, `error`, is not the refusal. One that an earlier attempt has taken, and this one came
        to again, counts as well, and so does one of which it is not written that it was taken.
        """
        if self._taken_before is not None:
            return self._taken_before
        refused = [*self._refused, *([self._refusal] if self._refusal is not None else [])]
        for text, refusal in reversed(refused):
            if not _stems_from(error, refusal):
                return irreversible.storable(text)
        return self._irreversible or self._left

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
            self._write_end()
            self._may_be_in_row = True
            is_own = irreversible.storable(text) in self._begun
            irreversible.begin(self.db, self._claim, text, is_own=is_own)

    def _end_in_row(self) -> None:
        assert self._claim is not None
        what = f"that job {self._claim.job_id} has left its irreversible step was not written"
        with best_effort(self.db, what, patience_seconds=END_SECONDS, level=logging.WARNING):
            self._write_end()

    def _write_end(self) -> None:
        """Write what became of the step before, if that has not been written yet."""
        assert self._claim is not None
        if self._irreversible is not None or not self._may_be_in_row:
            return
        if self._left is not None:
            irreversible.end(self.db, self._claim, self._left)
        else:
            irreversible.forget(self.db, self._claim)
        self._left, self._may_be_in_row = None, False


def _stems_from(error: BaseException | None, origin: BaseException) -> bool:
    """Whether an error is another, or was raised because of it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if error is origin:
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
