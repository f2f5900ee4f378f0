"""The states of a profile and the one table of what may follow what.

`available` and `leased` are the only states in which a lease can be taken, and nothing leads out
of `stale` but a check or a person.
"""

from __future__ import annotations

from enum import StrEnum

from worker.errors import UsageError


class State(StrEnum):
    """Where a profile stands."""

    AVAILABLE = "available"
    LEASED = "leased"
    STALE = "stale"
    REVIEW_REQUIRED = "review_required"
    QUARANTINED = "quarantined"
    DISABLED = "disabled"


TRANSITIONS: dict[State, frozenset[State]] = {
    # Taken by a worker or a person; or set aside by hand.
    State.AVAILABLE: frozenset(
        {State.LEASED, State.REVIEW_REQUIRED, State.QUARANTINED, State.DISABLED}
    ),
    # Released well; ended without an explanation; its task or a person wants a look.
    State.LEASED: frozenset(
        {State.AVAILABLE, State.STALE, State.REVIEW_REQUIRED, State.QUARANTINED, State.DISABLED}
    ),
    # Checked and found well; or not.
    State.STALE: frozenset(
        {State.AVAILABLE, State.REVIEW_REQUIRED, State.QUARANTINED, State.DISABLED}
    ),
    State.REVIEW_REQUIRED: frozenset({State.AVAILABLE, State.QUARANTINED, State.DISABLED}),
    State.QUARANTINED: frozenset({State.AVAILABLE, State.REVIEW_REQUIRED, State.DISABLED}),
    State.DISABLED: frozenset({State.AVAILABLE}),
}

LEASABLE = frozenset({State.AVAILABLE, State.LEASED})


def check(profile_id: str, old: State, new: State) -> None:
    """Raise UsageError when the table does not lead from one state to the other."""
    if new not in TRANSITIONS[old]:
        possible = ", ".join(sorted(TRANSITIONS[old]))
        raise UsageError(f"profile {profile_id} is {old} and cannot become {new}; only {possible}")
