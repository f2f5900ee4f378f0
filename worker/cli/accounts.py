"""`launcher.py accounts list|add|pause|resume`: the accounts that jobs run for."""

from __future__ import annotations

from contextlib import closing

import click

from worker.cli.connection import open_database
from worker.cli.groups import DefaultGroup
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.profile_views import NONE, table
from worker.cli.wording import moment, operator
from worker.profiles import store


@click.group("accounts", cls=DefaultGroup)
def group() -> None:
    """Manage the accounts that profiles belong to."""


@group.command("list")
@json_flag
def list_(as_json: bool) -> None:
    """Show accounts, how many profiles each has, and which are paused."""
    with closing(open_database()) as db:
        rows = store.all_accounts(db)
    if as_json:
        tell_json(rows)
        return
    if not rows:
        tell("no accounts; add one with a profile: launcher.py profiles add ID --account A")
        return
    cells = [("ID", "PROFILES", "PAUSED SINCE", "BY", "WHY")]
    for row in rows:
        since = moment(row["paused_at"]) if row["paused_at"] else NONE
        why = (row["paused_by"] or NONE, row["paused_reason"] or "")
        cells.append((row["id"], str(row["profiles"]), since, *why))
    tell_all(table(list(cells)))


@group.command("add")
@click.argument("account_id", metavar="ID")
def add(account_id: str) -> None:
    """Add an account.

    While it has no profiles, its jobs share one proxy and run in the ordinary browser.
    """
    with closing(open_database()) as db:
        is_new = store.add_account(db, account_id, by=operator())
    tell(f"added account {account_id}" if is_new else f"account {account_id} already exists")


@group.command("pause")
@click.argument("account_id", metavar="ID")
@click.option("--reason", required=True, help="Why, for others to read.")
def pause(account_id: str, reason: str) -> None:
    """Start no more jobs for an account; jobs that run now are finished."""
    with closing(open_database()) as db:
        store.pause_account(db, account_id, reason=reason, by=operator())
    tell(f"paused account {account_id}; resume it: launcher.py accounts resume {account_id}")


@group.command("resume")
@click.argument("account_id", metavar="ID")
def resume(account_id: str) -> None:
    """Start jobs for an account again."""
    with closing(open_database()) as db:
        was_paused = store.resume_account(db, account_id, by=operator())
    tell(f"resumed account {account_id}" if was_paused else f"{account_id} was not paused")


COMMANDS = [group]
