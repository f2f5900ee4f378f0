"""How accounts have fared: done, failed and blocked today and in seven days, and the last success.

Jobs are counted in the queue and in the archive, by indexes of their own. A day is one of UTC, like
all times of the database. A job that names only a profile belongs to that profile's account.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from worker.database.client import Database

WEEK = timedelta(days=7)
# Look at this many blocks at most, the latest: in a storm of them more would help nobody.
MOST_BLOCKS = 50_000
AT_ONCE = 500


@dataclass(slots=True)
class Figures:
    """How one account has fared."""

    last_success: datetime | None = None
    today: Counter[str] = field(default_factory=Counter)
    week: Counter[str] = field(default_factory=Counter)
    profile_states: dict[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return them under the names that `accounts --json` has."""
        counts = {
            f"{kind}_{period}": counter[kind]
            for kind in ("done", "failed", "blocked")
            for period, counter in (("today", self.today), ("week", self.week))
        }
        return {
            "last_success": self.last_success,
            **counts,
            "profile_states": self.profile_states,
        }


def read(db: Database) -> dict[str, Figures]:
    """Count how every account has fared."""
    found: dict[str, Figures] = defaultdict(Figures)
    rows = db.fetch_all("owners_of_accounts")
    accounts = {row["owner_key"]: row["account_id"] for row in rows}
    now = db.fetch_all("database_time")[0]["now"]
    since = {
        "today": now.replace(hour=0, minute=0, second=0, microsecond=0),
        "week": now - WEEK,
    }
    for owners in _portions(list(accounts)):
        for name in ("ended_jobs_of_owners", "archived_jobs_of_owners"):
            for row in db.fetch_all(name, owners=owners, **since):
                kind = "done" if row["status"] == "done" else "failed"
                _add(found[accounts[row["owner_key"]]], kind, row)
    for name in ("blocks_of_owners", "archived_blocks_of_owners"):
        for row in db.fetch_all(name, limit=MOST_BLOCKS, **since):
            if (account := accounts.get(row["owner_key"])) is not None:
                _add(found[account], "blocked", row)
    for owner, account in accounts.items():
        found[account].last_success = _latest(found[account].last_success, _success(db, owner))
    for row in db.fetch_all("profile_states_of_accounts"):
        found[row["account_id"]].profile_states[row["state"]] = int(row["profiles"])
    return found


def _portions(owners: list[str]) -> Iterable[tuple[str, ...]]:
    return (tuple(owners[at : at + AT_ONCE]) for at in range(0, len(owners), AT_ONCE))


def _add(figures: Figures, kind: str, row: dict[str, Any]) -> None:
    figures.today[kind] += int(row["today"])
    figures.week[kind] += int(row["week"])


def _success(db: Database, owner: str) -> datetime | None:
    row = db.fetch_all("last_success_of_owner", owner=owner)[0]
    return _latest(row["in_queue"], row["in_archive"])


def _latest(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)
