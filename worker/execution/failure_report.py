"""A failed attempt as it is kept: its evidence on disk, and what its row will say of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worker.browser import evidence
from worker.browser.failed_attempt import Failure
from worker.browser.session import BrowserSession
from worker.errors import Fail, JobTimedOut, PayloadError
from worker.evidence.files import new_attempt_folder
from worker.evidence.redaction import redact_text
from worker.execution.raised import Raised
from worker.execution.task_call import parse_json
from worker.models import JSON, Claim, Ending, Owner
from worker.system.board import Entry


@dataclass(frozen=True, slots=True)
class Reporter:
    """Writes one worker's evidence."""

    errors_dir: Path
    database: str
    run_id: int
    owner: Owner
    session: BrowserSession
    # Puts the last good page of a job's task and site beside its evidence, and tells of it.
    put_good_page: Callable[[Path, Claim], dict[str, Any] | None] = lambda *_: None

    def report(
        self,
        claim: Claim,
        ending: Ending,
        entry: Entry,
        error: BaseException | None = None,
        steps: Iterable[dict[str, str]] = (),
    ) -> Ending:
        """Keep the evidence of a failure and add what is known of it to its ending.

        Without an `error` its task never began. What could not be kept is said in the reason.
        """
        raised = Raised.of(error or Fail(ending.reason), claim.task)
        failure = Failure(
            job_id=claim.job_id,
            attempt=claim.attempt,
            task=claim.task,
            payload=_lenient(claim.payload),
            exception_type=raised.kind,
            exception_message=raised.message,
            traceback=raised.traceback,
            fingerprint=raised.fingerprint,
            outcome=ending.outcome.value,
            cause=ending.cause,
            profile=claim.route.profile,
            account=claim.route.account,
            proxy_name=ending.proxy or claim.route.proxy,
            worker_slot=self.owner.slot,
            incarnation=self.owner.incarnation,
            run_id=str(self.run_id),
            fence=claim.fence,
            last_step=entry.step or None,
            irreversible_step=ending.irreversible_step,
            hang_stack=error.stack if isinstance(error, JobTimedOut) else None,
            seconds=time.monotonic() - entry.claimed_at,
            steps=tuple(steps),
            database=self.database,
        )
        return self._kept(claim, _told(ending, failure, raised.label), failure)

    def _kept(self, claim: Claim, ending: Ending, failure: Failure) -> Ending:
        try:
            folder = new_attempt_folder(
                self.errors_dir, failure.job_id, failure.attempt, database=self.database
            )
        except OSError as problem:
            return replace(ending, reason=f"{ending.reason} (no evidence: {problem})")
        good = self.put_good_page(folder, claim)
        outcomes = evidence.capture_into(folder, failure, self.session, last_good=good)
        missing = evidence.missing(outcomes)
        if lost := missing.get("error"):
            return replace(ending, reason=f"{ending.reason} (no evidence: {lost})")
        return replace(
            ending,
            evidence=str(folder.relative_to(self.errors_dir)),
            evidence_dir=str(self.errors_dir),
        )


def _told(ending: Ending, failure: Failure, label: str) -> Ending:
    """Add to an ending what is known of its failure, with or without evidence."""
    return replace(
        ending,
        last_error=failure.traceback,
        fingerprint=failure.fingerprint,
        label=label,
        last_step=failure.last_step,
    )


def redacted(ending: Ending) -> Ending:
    """Take the secrets out of all that an ending says, before anybody writes it anywhere."""
    return replace(
        ending,
        reason=redact_text(ending.reason),
        last_error=redact_text(ending.last_error) if ending.last_error else None,
        label=redact_text(ending.label) if ending.label else None,
        last_step=redact_text(ending.last_step) if ending.last_step else None,
    )


def _lenient(text: str) -> JSON:
    try:
        return parse_json(text)
    except PayloadError:
        return text
