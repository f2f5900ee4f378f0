"""What speaks against using a profile again after a hold that ended without an explanation.

Read from the lease's last safe step: one rule each, the first that applies decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from worker.database.client import Row
from worker.profiles.states import State

# A step of such a name means that something is on its way which may or may not have arrived.
_HALF_DONE = re.compile(r"(?i)\b(submit|pay|order|confirm|transfer|delet|send)\w*ing\b|^submit")
_NOWHERE = "about:blank"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a profile must not simply be used again, and where it goes instead."""

    reason: str
    leads_to: State


def about(profile: Row, lease: Row) -> Doubt | None:
    """Tell what speaks against a profile whose hold has just ended; None: a check will do."""
    # Without an address there was no page: a task that needs no browser is nowhere, and knows it.
    step, url = lease["last_step"] or "", lease["last_url"]
    if lease["review_reason"]:
        return Doubt(f"its task wanted a look: {lease['review_reason']}", State.REVIEW_REQUIRED)
    if half_done := about_step(step):
        return Doubt(half_done, State.QUARANTINED)
    if lease["proxy"] != profile["proxy"]:
        return Doubt("its proxy was changed meanwhile", State.REVIEW_REQUIRED)
    if step and url == _NOWHERE:
        return Doubt(f"it ended after {step!r}, nobody knows where", State.REVIEW_REQUIRED)
    if lease["release_policy"] == "review":
        return Doubt("its release policy wants a review", State.REVIEW_REQUIRED)
    if lease["release_policy"] == "quarantine":
        return Doubt("its release policy wants a quarantine", State.QUARANTINED)
    return None


def about_step(step: str) -> str | None:
    """Tell what may be half done after a task that broke off at a step."""
    return f"it ended at {step!r}: that may be half done" if _HALF_DONE.search(step) else None
