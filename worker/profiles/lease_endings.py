"""End leases on profiles: with an explanation, or because the holder is gone.

A lease that ends without an explanation (its worker died, it was not renewed) makes the profile
stale, or sets it aside if its last step may be half done; never simply available.
"""

from __future__ import annotations

from worker.database import freshness
from worker.database.client import Database, Row, Transaction
from worker.database.freshness import Standing
from worker.errors import LeaseLost
from worker.models import StepKind
from worker.profiles import doubts, leases, stop_tries
from worker.profiles.events import move
from worker.profiles.states import State


def release(
    db: Database,
    profile_id: str,
    fence: int,
    *,
    author: str,
    reason: str,
    review: str | None = None,
    left_running: str | None = None,
) -> None:
    """End a lease with an explanation: the profile is available, or up for review if wanted.

    If its browser could not be stopped (`left_running` says why), it is stale until it is.
    Raises LeaseLost when the fence is an old one: then nothing is written.
    """

    def end(tx: Transaction) -> bool:
        profile, lease = _locked(tx, profile_id, fence)
        if profile is None or lease is None:
            return False
        why = review or lease["review_reason"]
        if why and State(profile["state"]) is State.LEASED:
            _set(tx, profile, State.REVIEW_REQUIRED, "review_wanted", author, why, lease)
        else:
            state = _state_without(tx, profile, is_left_running=bool(left_running))
            _set(tx, profile, state, "released", author, reason, lease)
        if left_running:
            stop_tries.note(tx, profile, left_running, author=author)
        return True

    def look() -> Standing:
        return _standing(db, profile_id, fence)

    if not freshness.prevails(db, lambda: db.transaction(end), look):
        raise LeaseLost(profile_id, fence)


def end_unexplained(
    db: Database,
    profile_id: str,
    fence: int,
    *,
    author: str,
    reason: str,
    only_if_expired: bool = False,
    last_step: str | None = None,
    step_kind: StepKind = StepKind.GUESSED,
) -> bool:
    """End a lease whose holder is gone: the profile is stale, or set aside where there are doubts.

    `last_step` is a later step than the stored one, if it is known, and `step_kind` its kind.
    Returns False when the lease had ended before, or was renewed where it must be expired.
    """

    def end(tx: Transaction) -> bool:
        how = "end_expired_lease" if only_if_expired else "end_lease"
        profile, lease = _locked(tx, profile_id, fence, how)
        if profile is None or lease is None:
            return False
        if last_step:
            lease |= {"last_step": last_step, "step_kind": step_kind}
        old = State(profile["state"])
        if old is State.LEASED:
            _set(tx, profile, State.STALE, "stale", author, reason, lease)
        else:
            _set(tx, profile, old, "lease_ended", author, reason, lease)
        is_stale = State(profile["state"]) is State.STALE
        if is_stale and (doubt := doubts.about(profile, lease)):
            _set(tx, profile, doubt.leads_to, "doubted", author, doubt.reason, lease)
        return True

    return db.transaction(end)


def end_of_the_dead(
    db: Database,
    incarnation: int,
    ending: str,
    *,
    last_step: str | None = None,
    step_kind: StepKind = StepKind.GUESSED,
) -> list[str]:
    """End the leases of a worker that died at a step; return the names of its profiles."""
    return [
        row["profile_id"]
        for row in db.fetch_all("leases_of_incarnation", incarnation=incarnation)
        if end_unexplained(
            db,
            row["profile_id"],
            row["fence"],
            author="launcher",
            reason=f"its worker died: {ending}",
            last_step=last_step,
            step_kind=step_kind,
        )
    ]


def _standing(db: Database, profile_id: str, fence: int) -> Standing:
    """Tell what the server that is asked knows of a lease."""
    profile = db.fetch_one("get_profile", id=profile_id)
    if profile is None:
        return Standing.MISSING
    is_ours = any(row["fence"] == fence for row in leases.of_profile(db, profile_id))
    # Others may hold it beside us, with a later fence each.
    found = fence if is_ours else int(profile["fence"])
    return freshness.by_fence(found, fence, is_ours=is_ours)


def _state_without(tx: Transaction, profile: Row, *, is_left_running: bool) -> State:
    """Say what state a profile is in once a lease on it has ended with an explanation."""
    state = State(profile["state"])
    if state is not State.LEASED:
        # Somebody has set it aside meanwhile: that stands.
        return state
    if is_left_running:
        return State.STALE
    return State.LEASED if leases.of_profile(tx, profile["id"]) else State.AVAILABLE


def _locked(
    tx: Transaction, profile_id: str, fence: int, end_lease: str = "end_lease"
) -> tuple[Row | None, Row | None]:
    """Lock a profile and take one of its leases away; None for what is not there."""
    profiles = tx.fetch_all("lock_profile", id=profile_id)
    held = leases.of_profile(tx, profile_id)
    lease = next((row for row in held if row["fence"] == fence), None)
    if not profiles or lease is None:
        return None, None
    if tx.execute(end_lease, profile_id=profile_id, fence=fence) != 1:
        return None, None
    return profiles[0], lease


def _set(
    tx: Transaction, profile: Row, state: State, event: str, author: str, reason: str, lease: Row
) -> None:
    move(
        tx,
        profile,
        state,
        event=event,
        author=author,
        reason=reason,
        fence=lease["fence"],
        job_id=lease["job_id"],
    )
