"""What an attempt raised, in words that may be kept, and the group of failures it belongs to."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, TracebackType

from worker.errors import message_of
from worker.evidence.fingerprint import fingerprint, frames_of
from worker.evidence.redaction import redact_text

# A task has few lines at which it fails; each text is some kilobytes long.
KNOWN_STACKS = 200

_Place = tuple[CodeType, str, int, int]


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception in texts; all of them are masked."""

    kind: str
    message: str
    traceback: str
    fingerprint: str
    label: str

    @classmethod
    def of(cls, error: BaseException, task: str) -> Raised:
        """Describe what a task's attempt raised."""
        # Masked first: neither the group's name nor its label may depend on a secret.
        text = redact_text(traceback_of(error))
        message = redact_text(message_of(error))
        kind = type(error).__name__
        return cls(kind, message, text, *fingerprint(kind, message, task, frames_of(error)))


def traceback_of(error: BaseException) -> str:
    """Write an exception as Python does; what is said of a place in the code is written once.

    Python reads and parses the source of every frame again each time.
    """
    context = None if error.__suppress_context__ else error.__context__
    is_alone = error.__cause__ is None and context is None
    trace = error.__traceback__
    if trace is None or not is_alone or isinstance(error, BaseExceptionGroup):
        return "".join(traceback.format_exception(error))
    known = traceback.TracebackException(type(error), error, trace, limit=0, compact=True)
    return "".join((_stack_text(_Stack(trace)), *known.format_exception_only()))


class _Stack:
    """Where an exception came through, compared by place: the same lines make the same text."""

    def __init__(self, trace: TracebackType) -> None:
        # Only until the text is written: it holds the values of all its frames.
        self.trace: TracebackType | None = trace
        places: list[_Place] = []
        at: TracebackType | None = trace
        while at is not None:
            code = at.tb_frame.f_code
            # Equal functions of two files are equal code.
            places.append((code, code.co_filename, at.tb_lineno, at.tb_lasti))
            at = at.tb_next
        self._places = tuple(places)

    def __hash__(self) -> int:
        return hash(self._places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Stack) and self._places == other._places


@lru_cache(maxsize=KNOWN_STACKS)
def _stack_text(stack: _Stack) -> str:
    trace, stack.trace = stack.trace, None
    return "".join(("Traceback (most recent call last):\n", *traceback.format_tb(trace)))
