"""Take and renew leases on profiles, under the profile's lock; a fence proves each lease.

How a lease ends is in `lease_endings`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from worker.database.client import Database, Row, Transaction
from worker.errors import RowsLocked
from worker.models import StepKind
from worker.profiles.events import move
from worker.profiles.states import LEASABLE, State

logger = logging.getLogger("nightshift.profiles")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who takes a lease: a worker's incarnation with its job, or a person."""

    name: str
    incarnation: int | None = None
    job_id: int | None = None
    job_fence: int | None = None

    @property
    def is_person(self) -> bool:
        return self.incarnation is None


def take(
    tx: Transaction,
    profile: Row,
    holder: Holder,
    *,
    lease_seconds: float,
    exclusive: bool = False,
) -> int:
    """Hold a locked profile that is ready; return the lease's fence."""
    fence = int(profile["fence"]) + 1
    tx.execute("next_profile_fence", id=profile["id"])
    tx.execute(
        "add_lease",
        profile_id=profile["id"],
        fence=fence,
        account_id=profile["account_id"],
        holder=holder.name[:255],
        is_person=holder.is_person,
        is_exclusive=exclusive,
        incarnation=holder.incarnation,
        job_id=holder.job_id,
        job_fence=holder.job_fence,
        proxy=profile["proxy"],
        release_policy=profile["release_policy"],
        lease_seconds=lease_seconds,
    )
    state = State(profile["state"])
    move(
        tx,
        profile,
        # A person may look at what is set aside; that does not make it usable for others.
        State.LEASED if state in LEASABLE else state,
        event="leased",
        author=holder.name,
        reason=f"for job {holder.job_id}" if holder.job_id is not None else "checked out",
        fence=fence,
        job_id=holder.job_id,
    )
    return fence


def of_profile(reader: Database | Transaction, profile_id: str) -> list[Row]:
    """List who holds a profile now, the oldest hold first."""
    return reader.fetch_all("leases_of_profile", profile_id=profile_id)


def renew(db: Database, incarnations: list[int], lease_seconds: float) -> int:
    """Extend the leases of living workers, around rows that are held; return how many were."""
    if not incarnations:
        return 0
    rows = db.fetch_all("leases_of_incarnations", incarnations=tuple(incarnations))
    held = [(row["profile_id"], row["fence"], row["incarnation"]) for row in rows]
    if len(held) < 2:
        return sum(_renew_one(db, lease, lease_seconds) for lease in held)
    try:
        return _renew(db, held, lease_seconds)
    except RowsLocked:
        return sum(_renew_one(db, lease, lease_seconds) for lease in held)


def _renew(db: Database, held: Sequence[tuple[str, int, int]], lease_seconds: float) -> int:
    profiles = tuple({profile_id for profile_id, _, _ in held})
    with db.passing_locks():
        return db.execute(
            "renew_leases", profiles=profiles, leases=tuple(held), lease_seconds=lease_seconds
        )


def _renew_one(db: Database, lease: tuple[str, int, int], lease_seconds: float) -> int:
    """Renew one lease; a row that is held cannot be swept meanwhile either."""
    profile_id, fence, incarnation = lease
    try:
        with db.passing_locks():
            return db.execute(
                "renew_lease",
                profile_id=profile_id,
                fence=fence,
                incarnation=incarnation,
                lease_seconds=lease_seconds,
            )
    except RowsLocked:
        logger.warning("profile %s: its lease's row is locked, it is renewed later", profile_id)
        return 0


def note_step(
    db: Database,
    profile_id: str,
    fence: int,
    step: str,
    url: str,
    kind: StepKind = StepKind.GUESSED,
) -> None:
    """Keep the last step of the task that holds a profile, and where its page was then."""
    db.execute(
        "note_step",
        profile_id=profile_id,
        fence=fence,
        step=_storable(step)[:255] or None,
        url=_storable(url)[:2048] or None,
        kind=kind.value,
    )


def want_review(db: Database, profile_id: str, fence: int, reason: str) -> None:
    """Record why a person should review a profile before it is used again."""
    db.execute("want_review", profile_id=profile_id, fence=fence, reason=_storable(reason)[:255])


def _storable(text: str) -> str:
    """Replace half characters, which a page may hold and no column takes."""
    return text.encode("utf-8", "replace").decode()
