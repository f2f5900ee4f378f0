"""The orders that wait behind a job that failed, until a person retries or discards it.

It only reads, and tells of the oldest failures if there are many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from worker.database.client import Database, Row

AT_MOST = 200
_FAILED, _KEY = "failed:", "key:"


@dataclass(frozen=True, slots=True)
class BlockedOrder:
    """A failed job, the order that waits for it, and how many pending jobs that are."""

    name: str
    job_id: int
    since: datetime | None
    reason: str | None
    irreversible_step: str | None
    jobs: int


def find(db: Database) -> Iterator[BlockedOrder]:
    """List the orders in which jobs wait behind one that failed, once each."""
    places, choices = _accounts(db.fetch_all("places_of_ordered_accounts"))
    failed = tuple(f"{_FAILED}{place}" for place in places) or ("",)
    seen: set[str] = set()
    for row in db.fetch_all("failed_firsts_of_orders", places=failed, limit=AT_MOST):
        place = row["order_place"].removeprefix(_FAILED)
        is_key = place.startswith(_KEY)
        account = "" if is_key else places[place]
        name = f"key {place.removeprefix(_KEY)}" if is_key else f"account {account}"
        choice = row["order_on_failure"] or "wait" if is_key else choices[account]
        if name in seen or choice != "wait":
            continue
        seen.add(name)
        own = (place,) if is_key else tuple(each for each in places if places[each] == account)
        jobs = int(db.fetch_all("count_jobs_behind", places=own, id=row["id"])[0]["jobs"])
        if jobs:
            yield BlockedOrder(
                name, row["id"], row["finished_at"], row["reason"], row["irreversible_step"], jobs
            )


def _accounts(rows: list[Row]) -> tuple[dict[str, str], dict[str, str]]:
    """Read which account each place belongs to, and what each has chosen after a failure."""
    places: dict[str, str] = {}
    for row in rows:
        places[f"account:{row['account_id']}"] = row["account_id"]
        if row["profile_id"] is not None:
            places[f"profile:{row['profile_id']}"] = row["account_id"]
    return places, {row["account_id"]: row["on_failure"] for row in rows}
