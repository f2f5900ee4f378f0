"""`launcher.py profiles backup` and `restore`: a local profile's folder as one file, and back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from worker.cli.connection import open_database
from worker.cli.output import tell
from worker.cli.wording import counted, operator
from worker.installation import command_line
from worker.profiles import backups, store
from worker.profiles.states import State

file_type = click.Path(dir_okay=False, path_type=Path)


@click.command("backup")
@click.argument("profile_id", metavar="ID")
@click.option(
    "-o", "--output", type=file_type, help="Write to this file.  [default: ID-FENCE.tar, here]"
)
def backup(profile_id: str, output: Path | None) -> None:
    """Write a local profile's folder, fields and fence to a tar that only you may read.

    Nobody else can use the profile meanwhile. The file holds its cookies: it is a secret.
    """
    with closing(open_database()) as db:
        taken = backups.back_up(db, profile_id, output, by=operator())
    about = taken.about
    tell(
        f"backed up {profile_id} at fence {about.fence} to {taken.path}: "
        f"{counted(about.files, 'file')}, {about.bytes / 1e6:.1f} MB. It holds the profile's "
        f"cookies: keep it secret"
    )
    if taken.links:
        tell(f"left out: {counted(taken.links, 'link')}", err=True)


@click.command("restore")
@click.argument("profile_id", metavar="ID")
@click.argument("file", type=file_type, metavar="FILE")
@click.option("--of", metavar="OTHER", help="It is a backup of this other profile.")
@click.option("--force", is_flag=True, help="Although the profile has been used since.")
def restore(profile_id: str, file: Path, of: str | None, force: bool) -> None:
    """Put a backup in the place of a local profile's folder.

    The old folder stays until the new one is whole. Fields such as account and proxy stay as they
    are now.
    """
    with closing(open_database()) as db:
        about = backups.restore(db, profile_id, file, by=operator(), of=of, force=force)
        state = State(store.get(db, profile_id)["state"])
    tell(
        f"restored {profile_id} from {file}: taken at fence {about.fence} on {about.taken_at}. "
        f"Cookies are as they were then"
    )
    if state not in (State.AVAILABLE, State.LEASED):
        tell(
            f"profile {profile_id} stays {state}, and no job runs in it; once you have looked: "
            f"{command_line('profiles', 'clear', profile_id)} --reason …"
        )
