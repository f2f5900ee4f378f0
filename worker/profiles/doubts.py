"""Decide whether a profile may be used again after a lease that ended without an explanation.

The rules read the lease and its last step. The first rule that applies decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from worker.database.client import Row
from worker.models import StepKind
from worker.profiles.states import State

# A step with such a word ending in "ing" ("submitting order"), or one that begins with "submit",
# means that something was being sent and may or may not have arrived. docs/profiles.md lists them.
GUESSED_STEMS = ("submit", "pay", "order", "confirm", "transfer", "delet", "send")
_HALF_DONE = re.compile(rf"(?i)\b({'|'.join(GUESSED_STEMS)})\w*ing\b|^submit")
_NOWHERE = "about:blank"
# The last words of every reason that is about a step.
HALF_DONE = "that may be half done"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a profile must not simply be used again, and where it goes instead."""

    reason: str
    leads_to: State


def about(profile: Row, lease: Row) -> Doubt | None:
    """Return the doubt about a profile whose lease has just ended; None if a check is enough."""
    # Without an address there was no page: a task that needs no browser is nowhere, and knows it.
    step, url = lease["last_step"] or "", lease["last_url"]
    if lease["review_reason"]:
        return Doubt(
            f"its task asked for a review: {lease['review_reason']}", State.REVIEW_REQUIRED
        )
    if half_done := about_step(step, StepKind(lease["step_kind"])):
        return Doubt(half_done, State.QUARANTINED)
    if lease["proxy"] != profile["proxy"]:
        return Doubt("its proxy was changed meanwhile", State.REVIEW_REQUIRED)
    if step and url == _NOWHERE:
        return Doubt(f"it ended after {step!r}, nobody knows where", State.REVIEW_REQUIRED)
    if lease["release_policy"] == "review":
        return Doubt("its release policy asks for a review", State.REVIEW_REQUIRED)
    if lease["release_policy"] == "quarantine":
        return Doubt("its release policy asks for quarantine", State.QUARANTINED)
    return None


def about_step(step: str, kind: StepKind = StepKind.GUESSED) -> str | None:
    """Tell what may be half done after a task that broke off at a step."""
    if kind is StepKind.IRREVERSIBLE:
        return f"it ended at {step!r}, which is irreversible: {HALF_DONE}"
    if kind is StepKind.GUESSED and _HALF_DONE.search(step):
        return f"it ended at {step!r}: {HALF_DONE}"
    return None
