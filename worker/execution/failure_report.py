"""A failed attempt as it is kept: its evidence on disk, and what its row will say of it."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from pathlib import Path

from worker.browser import evidence
from worker.browser.session import BrowserSession
from worker.errors import Fail, JobTimedOut, PayloadError
from worker.evidence.fingerprint import fingerprint, frames_of
from worker.execution.task_call import parse_json
from worker.models import JSON, Claim, Ending, Owner


@dataclass(frozen=True, slots=True)
class Reporter:
    """Writes one worker's evidence."""

    errors_dir: Path
    run_id: int
    owner: Owner
    session: BrowserSession

    def report(
        self, claim: Claim, ending: Ending, last_step: str, error: BaseException | None = None
    ) -> Ending:
        """Keep the evidence of a failure and add what is known of it to its ending.

        Without an `error` the job was ended before its task began. What could not be kept is said
        in the reason.
        """
        error = error or Fail(ending.reason)
        text = "".join(traceback.format_exception(error))
        kind = type(error).__name__
        key, label = fingerprint(kind, str(error), claim.task, frames_of(error))
        failure = evidence.Failure(
            job_id=claim.job_id,
            attempt=claim.attempt,
            task=claim.task,
            payload=_lenient(claim.payload),
            exception_type=kind,
            exception_message=str(error),
            traceback=text,
            fingerprint=key,
            outcome=ending.outcome.value,
            cause=ending.cause,
            worker_slot=self.owner.slot,
            incarnation=self.owner.incarnation,
            run_id=str(self.run_id),
            fence=claim.fence,
            last_step=last_step or None,
            hang_stack=error.stack if isinstance(error, JobTimedOut) else None,
        )
        missing = evidence.missing(evidence.capture(self.errors_dir, failure, self.session))
        lost = missing.get("folder") or missing.get("error")
        return replace(
            ending,
            reason=f"{ending.reason} (no evidence: {lost})" if lost else ending.reason,
            last_error=text,
            fingerprint=key,
            label=label,
            evidence=None if lost else f"{claim.job_id}/{claim.attempt}",
            last_step=last_step or None,
        )


def _lenient(text: str) -> JSON:
    try:
        return parse_json(text)
    except PayloadError:
        return text
