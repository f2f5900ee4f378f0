"""`launcher.py accounts list|add|set|pause|resume`: the accounts that jobs run for."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import click

from worker.cli.connection import begin_database, open_database
from worker.cli.groups import DefaultGroup
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.profile_views import NONE, table
from worker.cli.wording import moment, operator
from worker.database.client import Row
from worker.installation import command_line
from worker.models import ORDER_ON_FAILURE
from worker.profiles import account_figures, store
from worker.profiles.account_figures import Figures
from worker.profiles.account_rules import Change, describe, set_rules

HEADER = (
    *("ID", "PROFILES", "LAST SUCCESS", "TODAY", "7 DAYS"),
    *("PAUSED SINCE", "BY", "WHY", "RULES"),
)


@click.group("accounts", cls=DefaultGroup)
def group() -> None:
    """Manage the accounts that profiles belong to."""


@group.command("list")
@json_flag
def list_(as_json: bool) -> None:
    """Show accounts: profiles, last success, what was done, failed and blocked, pauses, rules.

    Figures are done/failed/blocked, today (UTC) and in seven days.
    """
    with closing(open_database()) as db:
        rows, figures = store.all_accounts(db), account_figures.read(db)
    if as_json:
        tell_json([_as_json(row, figures[row["id"]]) for row in rows])
        return
    if not rows:
        tell("no accounts; add one with a profile: launcher.py profiles add ID --account A")
        return
    tell_all(table([HEADER, *(_cells(row, figures[row["id"]]) for row in rows)]))


@group.command("add")
@click.argument("account_id", metavar="ID")
def add(account_id: str) -> None:
    """Add an account.

    While it has no profiles, its jobs share one proxy and run in the ordinary browser.
    """
    with closing(begin_database()) as db:
        is_new = store.add_account(db, account_id, by=operator())
    tell(f"added account {account_id}" if is_new else f"account {account_id} already exists")


@group.command("pause")
@click.argument("account_id", metavar="ID")
@click.option("--reason", required=True, help="Why, for others to read.")
def pause(account_id: str, reason: str) -> None:
    """Start no more jobs for an account; jobs that run now are finished."""
    with closing(open_database()) as db:
        store.pause_account(db, account_id, reason=reason, by=operator())
    tell(
        f"paused account {account_id}; resume it: {command_line('accounts', 'resume', account_id)}"
    )


@group.command("resume")
@click.argument("account_id", metavar="ID")
def resume(account_id: str) -> None:
    """Start jobs for an account again."""
    with closing(open_database()) as db:
        was_paused = store.resume_account(db, account_id, by=operator())
    tell(f"resumed account {account_id}" if was_paused else f"{account_id} was not paused")


@group.command("set")
@click.argument("account_id", metavar="ID")
@click.option(
    "--ordered/--unordered",
    default=None,
    help="Run its jobs by id, one after the other, or as they come.",
)
@click.option(
    "--on-failure",
    type=click.Choice(ORDER_ON_FAILURE),
    help="With --ordered: after a failure the others wait for you, go on, or fail too.",
)
@click.option(
    "--window",
    "windows",
    multiple=True,
    metavar="HOURS",
    help="When jobs may start: 09:00-18:00, or mon-fri 22:00-06:00; repeatable.",
)
@click.option("--timezone", metavar="ZONE", help="Zone of the windows.  [default: UTC]")
@click.option(
    "--except",
    "closed_days",
    multiple=True,
    metavar="DAY",
    help="A day on which no job starts: 2026-12-25; repeatable.",
)
@click.option("--always", "is_always", is_flag=True, help="Remove windows and excepted days.")
def set_(account_id: str, ordered: bool | None, **given: Any) -> None:
    """Set rules for all jobs of an account. What is not given stays.

    Windows and excepted days replace those that were set before.
    """
    with closing(open_database()) as db:
        rules = set_rules(db, account_id, Change(ordered, **given), by=operator())
    said = describe(rules) or "no rules: jobs start at any time, in any order"
    tell(f"account {account_id}: {said}")


def _cells(row: Row, figures: Figures) -> tuple[str, ...]:
    states = [f"{count} {state}" for state, count in figures.profile_states.items()]
    return (
        row["id"],
        ", ".join(states) or "0",
        moment(figures.last_success),
        *(f"{c['done']}/{c['failed']}/{c['blocked']}" for c in (figures.today, figures.week)),
        moment(row["paused_at"]),
        row["paused_by"] or NONE,
        row["paused_reason"] or NONE,
        describe(row),
    )


def _as_json(row: Row, figures: Figures) -> dict[str, Any]:
    lists = {
        name: None if row[name] is None else json.loads(row[name])
        for name in ("windows", "closed_days")
    }
    return {**row, "is_ordered": bool(row["is_ordered"]), **lists, **figures.as_json()}


COMMANDS = [group]
