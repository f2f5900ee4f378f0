"""`launcher.py profiles set` and `remove`: change or remove a profile that nobody holds."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from worker.cli import output
from worker.cli.connection import open_database
from worker.cli.face_fields import face_options, strange_face
from worker.cli.output import tell, tell_all
from worker.cli.profile_fields import checked, endpoint_label, fields_of, placed
from worker.cli.profile_input import endpoint_of, known_profiles, options_of
from worker.cli.profile_views import NONE
from worker.cli.wording import operator
from worker.database.client import Row
from worker.errors import UsageError
from worker.installation import command_line
from worker.profiles import changes, store
from worker.profiles.changes import Revision
from worker.system.identity import this_host

# Fields that can be emptied, and the flag for each.
CLEARED = {
    "account": "no_account",
    "proxy": "no_proxy",
    "region": "no_region",
    "allow": "allow_all",
}


@click.command("set")
@click.argument("profile_id", metavar="ID")
@click.option("--account", help="The account it belongs to; added if it is new.")
@click.option("--no-account", is_flag=True, help="Remove it from its account.")
@click.option("--folder", help="The new folder of a local profile.")
@click.option("--vendor-id", help="What the vendor calls the profile.")
@click.option(
    "--endpoint",
    metavar="URL|-",
    help="Address of a cdp profile's browser; - asks for one with a login.",
)
@click.option("--proxy", help="The name of its proxy; none: it goes out directly.")
@click.option(
    "--no-proxy",
    is_flag=True,
    help="Say nothing of a proxy; where there are any, no job runs in it then.",
)
@click.option("--region", help="The region its proxy must be in.")
@click.option("--no-region", is_flag=True, help="Allow a proxy in any region.")
@click.option("--max-active-runs", type=int, help="How many jobs may use it at once.")
@click.option(
    "--release-policy", help="What to do after a worker vanished: check, review, quarantine."
)
@click.option(
    "--allow", multiple=True, metavar="TASK", help="A task that may use it; no others may."
)
@click.option("--allow-all", is_flag=True, help="Let every task use it.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set an option for its provider; KEY= removes it. Other options stay.",
)
@face_options
def set_(profile_id: str, options: tuple[str, ...], **flags: Any) -> None:
    """Change a profile that nobody holds. Fields you do not name stay as they are."""
    wanted, pairs = _wanted(flags), options_of(options)
    if not wanted and not pairs:
        raise UsageError(
            "say what to change, such as --proxy NAME; see: launcher.py profiles set --help"
        )
    with closing(open_database()) as db:
        known = known_profiles(db, but=profile_id)

        def revise(profile: Row) -> Revision:
            old = fields_of(profile)
            new = old | wanted
            kept = {**(old["options"] or {}), **pairs}
            new["options"] = {key: value for key, value in kept.items() if value != ""}
            revised = checked(new, known)
            if "folder" in wanted:
                _require_own_host(profile)
                revised = placed(revised, known)
            return Revision(revised, _differences(old, fields_of(store.columns(revised))))

        revision = changes.change(db, profile_id, revise, by=operator())
    if revision.changes:
        tell(f"changed {profile_id}: {revision}")
        tell_all(strange_face(revision.profile, known.regions))
    else:
        tell(f"profile {profile_id} already has these values; nothing was changed")


@click.command("remove")
@click.argument("profile_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask. Needed when there is no terminal.")
def remove(profile_id: str, yes: bool) -> None:
    """Remove a profile that nobody holds and no pending job names.

    Its folder, or the vendor's profile, is not touched. Its history can still be read.
    """
    with closing(open_database()) as db:
        profile = changes.check_removable(db, profile_id)
        if not yes:
            _ask(profile_id)
        changes.remove(db, profile_id, by=operator())
    tell(f"removed {profile_id}; {_left(profile)}")
    tell(f"its history stays: {command_line('profiles', 'history', profile_id)}")


def _wanted(flags: dict[str, Any]) -> dict[str, Any]:
    wanted = {name: value for name, value in flags.items() if name not in CLEARED.values()}
    wanted = {name: value for name, value in wanted.items() if value not in (None, ())}
    for name, clearing in CLEARED.items():
        if not flags[clearing]:
            continue
        if name in wanted:
            flag = clearing.replace("_", "-")
            raise UsageError(f"--{name} and --{flag} contradict each other; give one of them")
        wanted[name] = None
    if "endpoint" in wanted:
        wanted["endpoint"] = endpoint_of(wanted["endpoint"], "cdp")
    return wanted


def _require_own_host(profile: Row) -> None:
    """A folder is looked at where it is: what is there decides whether it may be a profile's."""
    if profile["host"] not in (None, this_host().name):
        raise UsageError(
            f"profile {profile['id']} lives on {profile['host']}; its folder was not changed: "
            f"do that there"
        )


def _differences(old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    """Describe each changed field, without values that may be secret."""
    return {
        name: f"{_shown(name, old[name])} → {_shown(name, new[name])}"
        for name in old
        if old[name] != new[name]
    }


def _shown(name: str, value: Any) -> str:
    if name == "allow":
        return " ".join(value) if value else "every task"
    if not value:
        return NONE
    if name == "endpoint":
        return str(endpoint_label(value))
    # Only the names of options: a value may be a secret that came from a file.
    return " ".join(value) if name == "options" else str(value)


def _ask(profile_id: str) -> None:
    if not output.is_asking_possible():
        raise UsageError(
            f"remove: this would remove profile {profile_id}; there is no terminal to ask on, "
            f"so add --yes to do it"
        )
    if not output.ask(f"Remove profile {profile_id}?"):
        tell("nothing was done", err=True)
        raise click.exceptions.Exit(0)


def _left(profile: Row) -> str:
    """Say what remains of a profile, and where."""
    if profile["folder"]:
        return f"its folder stays: {profile['folder']}"
    if profile["vendor_id"]:
        return f"{profile['provider']} keeps its profile {profile['vendor_id']}"
    return f"the browser at {endpoint_label(profile['endpoint'])} was left alone"
