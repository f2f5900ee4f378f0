"""Accounts outside their windows: nothing of theirs is started, by the database's clock.

What runs when a window ends is finished. The windows themselves are in `windows`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import lru_cache

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.guards.keys import ClosedKey
from worker.profiles.windows import Hours, find_zone, parse_window

_KIND = "account:"
_ALWAYS = ("00:00-24:00",)


def closed_keys(db: Database) -> list[ClosedKey]:
    """List the accounts that are outside their windows now."""
    return [
        closed
        for row in db.fetch_all("accounts_with_hours")
        if (closed := judge(row, row["now"])) is not None
    ]


def admit(tx: Transaction, keys: Iterable[str]) -> ClosedKey | None:
    """Judge a claim by the windows of the account that its keys name, if they name one."""
    accounts = tuple(key.removeprefix(_KIND) for key in keys if key.startswith(_KIND))
    if not accounts:
        return None
    for row in tx.fetch_all("hours_of_accounts", ids=accounts):
        if (closed := judge(row, row["now"])) is not None:
            return closed
    return None


def judge(account: Row, now: datetime) -> ClosedKey | None:
    """Tell whether an account may start nothing at a moment of the database's clock."""
    key, moment = f"{_KIND}{account['id']}", now.replace(tzinfo=UTC)
    try:
        hours = hours_of(account["windows"], account["timezone"], account["closed_days"])
    except UsageError as error:
        # This machine may know fewer zones than the one where they were set.
        return ClosedKey(
            key, f"the windows of account {account['id']} cannot be read here: {error}"
        )
    if hours.is_open(moment):
        return None
    opens = hours.opens_at(moment)
    reason = (
        f"account {account['id']} is outside its windows until {opens:%a %Y-%m-%d %H:%M} "
        f"({account['timezone']})"
    )
    return ClosedKey(key, reason, (opens - moment).total_seconds())


@lru_cache(maxsize=4096)
def hours_of(windows: str | None, timezone: str, closed_days: str | None) -> Hours:
    """Read what is kept of an account's windows; raises UsageError for an unknown zone."""
    return Hours(
        tuple(map(parse_window, json.loads(windows) if windows else _ALWAYS)),
        find_zone(timezone),
        frozenset(map(date.fromisoformat, json.loads(closed_days) if closed_days else ())),
    )
