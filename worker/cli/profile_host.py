"""`launcher.py profiles move`: hand a local profile over to another host."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from worker.cli.connection import open_database
from worker.cli.output import tell
from worker.cli.wording import operator
from worker.errors import UsageError
from worker.profiles import hosts, store
from worker.system.identity import this_host

LONGEST_NAME = 255


@click.command("move")
@click.argument("profile_id", metavar="ID")
@click.option("--to-host", "host", metavar="HOST", help="The name of the host it shall live on.")
@click.option("--here", is_flag=True, help="Let it live on this host.")
def move(profile_id: str, host: str | None, here: bool) -> None:
    """Hand a local profile that nobody holds over to another host.

    Only the entry is changed: copy its folder to the same place there first.
    """
    if (host is None) != here:
        raise UsageError("say where it shall live: --to-host NAME, or --here")
    if host is not None:
        host = _checked(host)
    with closing(open_database()) as db:
        before = hosts.move(db, profile_id, host, by=operator())
        goal = store.get(db, profile_id)["host"]
        is_known = goal == this_host().name or hosts.has_had_runs(db, goal)
    tell(f"profile {profile_id} lived on {before['host'] or 'no host yet'}, lives on {goal} now")
    folder = before["folder"]
    if goal == this_host().name and folder and not Path(folder).is_dir():
        tell(f"its folder {folder} is not here yet: copy it before a job opens the profile")
    elif goal != this_host().name:
        tell(f"its folder must be at {folder} there before a job opens the profile")
    if not is_known:
        tell(f"no run on a host named {goal} was seen so far: look at the name", err=True)


def _checked(host: str) -> str:
    name = host.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or " " in name:
        raise UsageError(f"--to-host: {host!r:.60} is no name of a host; nothing was done")
    return name
