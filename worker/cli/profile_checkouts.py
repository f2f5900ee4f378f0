"""`launcher.py profiles checkout` and `return`: a profile in a person's hands."""

from __future__ import annotations

from contextlib import closing

import click

from worker.cli import profile_views as views
from worker.cli.connection import open_database, state_dir
from worker.cli.options import DURATION, json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.wording import moment, operator
from worker.database.client import Database
from worker.errors import UsageError
from worker.installation import command_line
from worker.profiles import checkouts, leases, other_sessions, store
from worker.profiles.states import State

DEFAULT_SECONDS = 3600.0


@click.command("checkout")
@click.argument("profile_id", metavar="ID")
@click.option("--for", "seconds", type=DURATION, help="For how long.  [default: 1h]")
@click.option("--extend", "more", type=DURATION, help="Keep what is checked out for longer.")
@click.option("--reason", default="", help="Why, for others to read.")
@click.option("--reveal", is_flag=True, help="Print the whole endpoint, with its login or token.")
@json_flag
def checkout(
    profile_id: str,
    seconds: float | None,
    more: float | None,
    reason: str,
    reveal: bool,
    as_json: bool,
) -> None:
    """Take a profile for yourself: no job runs in it until you return it.

    You can also take one that is quarantined or waits for review; it stays in that state. When the
    time is over it stays yours, and is shown as overdue.
    """
    if more is not None:
        if seconds is not None or reason:
            raise UsageError("--extend stands alone: --for and --reason are of a new checkout")
        _extend(profile_id, more, as_json=as_json)
        return
    with closing(open_database()) as db:
        fence = take(db, profile_id, seconds, reason)
        profile = store.get(db, profile_id)
        held = leases.of_profile(db, profile_id)
    until = next((row["expires_at"] for row in held if row["fence"] == fence), None)
    found = views.whereabouts(profile, reveal=reveal) | {"fence": fence, "until": until}
    if as_json:
        tell_json(found)
        return
    tell_all([f"profile {profile_id} is yours until {moment(until)} (fence {fence})"])
    tell_all([f"  {name:<9} {found[name]}" for name in views.PLACES if found[name]])
    if profile["state"] != State.LEASED:
        tell(f"it stays {profile['state']}; to use it again: launcher.py profiles clear")
    tell(f"give it back: {command_line('profiles', 'return', profile_id)}")


@click.command("return")
@click.argument("profile_id", metavar="ID")
@click.option("--review", metavar="REASON", help="Ask for a review before any job uses it again.")
def return_(profile_id: str, review: str | None) -> None:
    """Give back a profile that was checked out."""
    with closing(open_database()) as db:
        store.give_back(db, profile_id, by=operator(), review=review)
        state = store.get(db, profile_id)["state"]
    tell(f"returned {profile_id}; it is {state}")


def take(db: Database, profile_id: str, seconds: float | None, reason: str) -> int:
    """Check a profile out for whoever gives this command; return the fence of the lease."""
    seconds = DEFAULT_SECONDS if seconds is None else seconds
    if not 1 <= seconds <= checkouts.LONGEST_SECONDS:
        raise UsageError("--for: a checkout lasts from one second to 30 days")
    if unknown := other_sessions.refuse(db, profile_id, state_dir()):
        tell(unknown, err=True)
    return store.check_out(
        db, profile_id, person=operator(), seconds=seconds, reason=reason.strip()
    )


def _extend(profile_id: str, seconds: float, *, as_json: bool) -> None:
    if not 1 <= seconds <= checkouts.LONGEST_SECONDS:
        raise UsageError("--extend: from one second to 30 days")
    with closing(open_database()) as db:
        store.get(db, profile_id)
        lease = checkouts.extend(db, profile_id, seconds, by=operator())
    if as_json:
        tell_json({"id": profile_id, "fence": lease["fence"], "until": lease["expires_at"]})
        return
    holder = lease["holder"]
    tell(f"profile {profile_id} is checked out by {holder} until {moment(lease['expires_at'])}")
