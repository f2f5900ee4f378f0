"""Which jobs hang on a profile, and which of them may be half done: for whoever clears it."""

from __future__ import annotations

from dataclasses import dataclass, field

from worker.database.client import Database
from worker.profiles import doubts, store

# A person reads this many; the rest is a number.
SHOWN = 10
# No index leads to a profile's jobs: of a long queue only the head is looked at.
LOOK_AT = 100_000


@dataclass(frozen=True, slots=True)
class HangingJobs:
    """What waits for a profile, and what broke off in it."""

    waiting: int
    first: list[int]
    is_lower_bound: bool = False
    # Pending, so tried again when the profile is clear: why each may be half done.
    doubted: dict[int, str] = field(default_factory=dict)
    # In error, so left alone: at which irreversible step each broke off.
    half_done: dict[int, str] = field(default_factory=dict)


def of_profile(db: Database, profile_id: str) -> HangingJobs:
    """Look up the jobs of one profile; raises UsageError when there is none of that name."""
    account = store.get(db, profile_id)["account_id"]
    whose = {"profile": profile_id, "account": account}
    count = db.fetch_all("count_jobs_hanging_on_profile", **whose, look_at=LOOK_AT)[0]
    first = db.fetch_all("first_jobs_hanging_on_profile", **whose, look_at=LOOK_AT, limit=SHOWN)
    doubted = db.fetch_all(
        "pending_jobs_doubted_in_profile",
        profile=profile_id,
        half_done=f"%{doubts.HALF_DONE}%",
        limit=SHOWN,
    )
    half_done = db.fetch_all("half_done_jobs_of_profile", profile=profile_id, limit=SHOWN)
    return HangingJobs(
        int(count["jobs"]),
        [row["id"] for row in first],
        count["looked_at"] == LOOK_AT,
        {row["id"]: row["reason"] for row in doubted},
        {row["id"]: row["irreversible_step"] for row in half_done},
    )
