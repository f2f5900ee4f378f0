"""`launcher.py profiles …`: add, import, list, quarantine and clear profiles.

An endpoint with a login or a token comes from a hidden prompt, from stdin or from a file, never
from the command line. Only `checkout --reveal` prints it.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import Any

import click

from worker.cli import profile_views as views
from worker.cli.connection import begin_database, open_database
from worker.cli.face_fields import face_lines, face_options
from worker.cli.groups import DefaultGroup
from worker.cli.hanging_jobs import lines as job_lines
from worker.cli.import_file import all_or_none, bytes_of
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.profile_backups import backup, restore
from worker.cli.profile_changes import remove, set_
from worker.cli.profile_checkouts import checkout, return_
from worker.cli.profile_cookies import cookies
from worker.cli.profile_doors import doorless_lines
from worker.cli.profile_fields import endpoint_label, profile_of
from worker.cli.profile_host import move
from worker.cli.profile_input import endpoint_of, known_profiles, options_of
from worker.cli.profile_lines import read_profiles
from worker.cli.profile_open import open_
from worker.cli.profile_providers import ask, providers
from worker.cli.wording import counted, duration, operator
from worker.database.client import Database
from worker.errors import BadData, DuplicateKey, UsageError
from worker.guards import rests
from worker.profiles import doors, hanging_jobs, leases, store
from worker.profiles.states import State
from worker.profiles.store import NewProfile

SHOWN_EVENTS = 10

reason_option = click.option("--reason", required=True, help="Why, for others to read.")


@click.group("profiles", cls=DefaultGroup)
def group() -> None:
    """Manage the browser profiles that accounts' jobs run in."""


@group.command("list")
@click.option(
    "--state",
    type=click.Choice([state.value for state in State]),
    help="Only profiles in this state.",
)
@click.option("--account", help="Only profiles of this account.")
@json_flag
def list_(state: str | None, account: str | None, as_json: bool) -> None:
    """Show profiles with their state and account."""
    with closing(open_database()) as db:
        rows = store.all_profiles(db, state=state, account_id=account)
    if as_json:
        tell_json([views.as_json(row) for row in rows])
    elif rows:
        tell_all(views.table([views.HEADER, *(views.cells(row) for row in rows)]))
    else:
        such = "such " if state or account else ""
        tell(f"no {such}profiles; add one: launcher.py profiles add ID")


@group.command("show")
@click.argument("profile_id", metavar="ID")
@json_flag
def show(profile_id: str, as_json: bool) -> None:
    """Show everything about one profile: its fields, who holds it, its latest events."""
    with closing(open_database()) as db:
        profile = store.get(db, profile_id)
        held = leases.of_profile(db, profile_id)
        events = store.history(db, profile_id, SHOWN_EVENTS)
        jobs = hanging_jobs.of_profile(db, profile_id)
        resting = rests.of_profile(db, profile_id)
    if as_json:
        report = {
            "profile": views.as_json(profile),
            "resting": None if resting is None else asdict(resting),
            "leases": [views.lease_as_json(lease) for lease in held],
            "events": events,
            "jobs": asdict(jobs),
        }
        tell_json(report)
        return
    tell_all(views.profile_lines(profile))
    if resting is not None:
        again = f"; again in {duration(resting.seconds)}" if resting.seconds is not None else ""
        tell(f"  resting   {resting.reason}{again}")
    tell_all([views.lease_line(lease) for lease in held])
    tell_all(job_lines(jobs))
    if events:
        tell_all(["latest events, newest first:", *map(views.event_line, events)])


@group.command("add")
@click.argument("profile_id", metavar="ID")
@click.option("--account", help="The account it belongs to; added if it is new.")
@click.option(
    "--provider", default="local", show_default=True, help="local, cdp, or a vendor's name."
)
@click.option("--folder", help="Folder of a local profile.  [default: one in the state folder]")
@click.option("--vendor-id", help="What the vendor calls the profile.")
@click.option(
    "--endpoint",
    metavar="URL|-",
    help="Address of a cdp profile's browser; - asks for one with a login.",
)
@click.option("--proxy", help="The name of its proxy; none: it goes out directly.")
@click.option("--region", help="The region its proxy must be in.")
@click.option("--max-active-runs", type=int, help="How many jobs may use it at once.  [default: 1]")
@click.option(
    "--release-policy", help="What to do after a worker vanished: check, review, quarantine."
)
@click.option(
    "--allow", multiple=True, metavar="TASK", help="A task that may use it.  [default: every task]"
)
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option for its provider."
)
@face_options
def add(profile_id: str, options: tuple[str, ...], **flags: Any) -> None:
    """Add a profile: a folder on this machine, an endpoint, or a vendor's profile."""
    fields = {name: value for name, value in flags.items() if value not in (None, ())}
    fields |= {"id": profile_id, "options": options_of(options)}
    if (endpoint := endpoint_of(flags["endpoint"], flags["provider"])) is not None:
        fields["endpoint"] = endpoint
    with closing(begin_database()) as db:
        new = profile_of(fields, known_profiles(db))
        _store(db, [new])
        doorless = doors.unchosen(db)
    where = new.folder or new.vendor_id or endpoint_label(new.endpoint)
    state = "is not ready" if new.id in doorless else "is available"
    tell(f"added {new.id} ({new.provider}: {where}); it {state}")
    tell_all(doorless_lines([new.id], doorless))
    tell_all(face_lines([new]))


@group.command("import")
@click.argument("file", metavar="FILE|-")
def import_(file: str) -> None:
    """Add many profiles from CSV with a header or JSONL: all of them, or none.

    The fields have the names of the flags of `add`: id, account, provider, folder, vendor_id,
    endpoint, proxy, region, max_active_runs, release_policy, allow, options, timezone, locale,
    user_agent, viewport.
    """
    data = bytes_of(file)
    with closing(begin_database()) as db:
        profiles = all_or_none(read_profiles(data, file, known_profiles(db)))
        if not profiles:
            raise UsageError(f"{file} contains no profiles; nothing was imported")
        _store(db, profiles)
        doorless = doors.unchosen(db)
    tell(f"added {counted(len(profiles), 'profile')}; see them: launcher.py profiles list")
    tell_all(doorless_lines([profile.id for profile in profiles], doorless))
    tell_all(face_lines(profiles))


@group.command("quarantine")
@click.argument("profile_id", metavar="ID")
@reason_option
def quarantine(profile_id: str, reason: str) -> None:
    """Stop using a profile until it is cleared; a job that runs in it is finished."""
    _set(profile_id, State.QUARANTINED, reason)


@group.command("clear")
@click.argument("profile_id", metavar="ID")
@reason_option
def clear(profile_id: str, reason: str) -> None:
    """Make a profile available again after review, quarantine or disable.

    Says which jobs wait for it, and which of them may be half done.
    """
    with closing(open_database()) as db:
        jobs = hanging_jobs.of_profile(db, profile_id)
    _set(profile_id, State.AVAILABLE, reason)
    tell_all(job_lines(jobs))


@group.command("disable")
@click.argument("profile_id", metavar="ID")
@reason_option
def disable(profile_id: str, reason: str) -> None:
    """Stop using a profile for good; `clear` brings it back."""
    _set(profile_id, State.DISABLED, reason)


@group.command("history")
@click.argument("profile_id", metavar="ID")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@json_flag
def history(profile_id: str, limit: int, as_json: bool) -> None:
    """Show what happened to a profile, newest first. A removed profile keeps its history."""
    with closing(open_database()) as db:
        events = store.history(db, profile_id, limit)
    if as_json:
        tell_json(events)
        return
    tell_all([views.event_line(event).strip() for event in events])


def _set(profile_id: str, state: State, reason: str) -> None:
    with closing(open_database()) as db:
        old = store.set_state(db, profile_id, state, reason=reason, by=operator())
        new = store.get(db, profile_id)["state"]
    still = "; its holder may finish" if new == State.LEASED else ""
    tell(f"profile {profile_id} was {old}, is {new}{still}")


def _store(db: Database, profiles: list[NewProfile]) -> None:
    try:
        store.add(db, profiles, operator())
    except DuplicateKey:
        raise UsageError(
            "somebody else has just added a profile of that name; nothing was added"
        ) from None
    except BadData:
        # The server's own words might repeat a value.
        raise UsageError("a field is too long for its column; nothing was added") from None


for command in (set_, remove, checkout, return_, open_, move, backup, restore, cookies):
    group.add_command(command)
for command in (providers, ask):
    group.add_command(command)

COMMANDS = [group]
