"""What a worker counts and says after each job: a number on the board, a line for people."""

from __future__ import annotations

import logging
from pathlib import Path

from worker.evidence.redaction import redact_closed
from worker.models import Claim, Ending, Outcome, Status
from worker.queue.settlements import Settlement, half_done_at
from worker.system.board import Entry

logger = logging.getLogger("nightshift.worker")


def count(entry: Entry, settlement: Settlement) -> None:
    """Count a job that has ended, on the worker's own place of the board."""
    match settlement.status:
        case Status.DONE:
            entry.done += 1
        case Status.ERROR:
            entry.failed += 1
        case _ if settlement.outcome is Outcome.HANDED_BACK:
            entry.handed_back += 1
        case _:
            entry.retried += 1


def say(claim: Claim, ending: Ending, settlement: Settlement, errors_dir: Path) -> None:
    """Log what became of a job that was not done."""
    if settlement.status is Status.DONE:
        return
    has_failed = settlement.status is Status.ERROR
    logger.log(
        logging.WARNING if has_failed else logging.INFO,
        "job %s %s, %s: %s%s",
        claim.job_id,
        "failed" if has_failed else "goes back",
        _how_often(claim, settlement.outcome) + _half_done(settlement),
        redact_closed(ending.reason),
        f" → {errors_dir.name}/{ending.evidence}" if ending.evidence else "",
    )


def _half_done(settlement: Settlement) -> str:
    step = settlement.irreversible_step
    return "" if step is None else f", {redact_closed(half_done_at(step))}"


def _how_often(claim: Claim, outcome: Outcome) -> str:
    """Say how often it has come to this: blocks and crashes are counted by themselves."""
    match outcome:
        case Outcome.BLOCKED:
            return f"block {claim.blocks + 1}"
        case Outcome.CRASHED:
            return f"crash {claim.crashes + 1}"
        case Outcome.HANDED_BACK if claim.canary is not None:
            return f"canary of {claim.canary}"
    return f"attempt {claim.tries} of {claim.max_attempts}"
