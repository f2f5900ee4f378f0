"""What an attempt raised, in words that may be kept, and the group of failures it belongs to."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from worker.errors import message_of
from worker.evidence.fingerprint import fingerprint, frames_of
from worker.evidence.redaction import redact_text


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
        text = redact_text("".join(traceback.format_exception(error)))
        message = redact_text(message_of(error))
        kind = type(error).__name__
        return cls(kind, message, text, *fingerprint(kind, message, task, frames_of(error)))
