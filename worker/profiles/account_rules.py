"""What a person sets for all jobs of an account: their order, and when they may start."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.installation import command_line
from worker.profiles import events
from worker.profiles.account_hours import hours_of
from worker.profiles.windows import find_zone, parse_day, parse_window

DEFAULT_ZONE = "UTC"
_AFTER_FAILURE = {
    "wait": "the others wait for you",
    "skip": "the others go on",
    "stop": "the others fail too",
}


@dataclass(frozen=True, slots=True)
class Change:
    """What is to change; None or empty leaves it as it is."""

    is_ordered: bool | None = None
    on_failure: str | None = None
    windows: tuple[str, ...] = ()
    timezone: str | None = None
    closed_days: tuple[str, ...] = ()
    is_always: bool = False


def set_rules(db: Database, account_id: str, change: Change, *, by: str) -> Row:
    """Change the rules of an account and return them; takes effect within two seconds.

    Raises UsageError, having changed nothing, for rules that cannot be meant.
    """
    checked = _checked(change)

    def write(tx: Transaction) -> Row | None:
        rows = tx.fetch_all("lock_account", id=account_id)
        if not rows:
            return None
        rules = _merged(rows[0], checked)
        tx.execute("set_account_rules", id=account_id, **rules)
        said = describe(rules) or "no rules"
        events.record(tx, "account_rules", author=by, reason=said, account_id=account_id)
        return rules

    rules = db.transaction(write)
    if rules is None:
        raise UsageError(
            f"there is no account {account_id}; "
            f"add it: {command_line('accounts', 'add', account_id)}"
        )
    return rules


def describe(rules: Row) -> str:
    """Say an account's rules in a few words; empty when it has none."""
    said = []
    if rules["is_ordered"]:
        then = _AFTER_FAILURE[rules["on_failure"]]
        said.append(f"one job after the other (if one fails, {then})")
    if rules["windows"]:
        said.append(f"from {' and '.join(json.loads(rules['windows']))}")
    if rules["closed_days"]:
        said.append(f"except {', '.join(json.loads(rules['closed_days']))}")
    if rules["timezone"]:
        said.append(f"in {rules['timezone']}")
    return ", ".join(said)


def _checked(change: Change) -> dict[str, Any]:
    """Write a change as columns, as far as it says something."""
    if change.is_always and (change.windows or change.closed_days or change.timezone):
        raise UsageError("--always removes windows; give it without --window, --except, --timezone")
    found: dict[str, Any] = {}
    if change.is_ordered is not None:
        found["is_ordered"] = change.is_ordered
    if change.on_failure is not None:
        found["on_failure"] = change.on_failure
    if change.windows:
        found["windows"] = json.dumps([str(parse_window(text)) for text in change.windows])
    if change.closed_days:
        found["closed_days"] = json.dumps(sorted({str(parse_day(d)) for d in change.closed_days}))
    if change.timezone is not None:
        found["timezone"] = find_zone(change.timezone).key
    if change.is_always:
        found |= {"windows": None, "closed_days": None, "timezone": None}
    if not found:
        raise UsageError(
            "say what to set: --ordered, --unordered, --on-failure, --window, --timezone, "
            "--except or --always"
        )
    return found


def _merged(account: Row, change: dict[str, Any]) -> Row:
    names = ("is_ordered", "on_failure", "windows", "timezone", "closed_days")
    rules = {name: account[name] for name in names} | change
    if "on_failure" in change and not rules["is_ordered"]:
        raise UsageError("--on-failure is for accounts whose jobs are in order; give --ordered too")
    if rules["windows"] is None and rules["closed_days"] is None:
        if rules["timezone"] is not None:
            raise UsageError("--timezone is for windows; give --window or --except too")
    else:
        rules["timezone"] = rules["timezone"] or DEFAULT_ZONE
        hours_of(rules["windows"], rules["timezone"], rules["closed_days"])
    return rules
