"""`launcher.py pause` and `resume`: hold every pool on the database, and let it go on."""

from __future__ import annotations

from contextlib import closing

import click

from worker.cli.connection import open_database
from worker.cli.output import tell
from worker.cli.wording import operator
from worker.queue import pause as pausing


@click.command("pause")
@click.option(
    "--reason", default="by hand", show_default=True, help="Why; shown by `status` and `why`."
)
def pause(reason: str) -> None:
    """Stop every run on the database from claiming jobs.

    Running jobs finish, and the browsers stay open.
    """
    with closing(open_database()) as db:
        pausing.pause(db, reason, operator())
    tell("paused: no run on this database claims new jobs; continue with: launcher.py resume")


@click.command("resume")
def resume() -> None:
    """Let paused runs claim jobs again."""
    with closing(open_database()) as db:
        was_paused = pausing.resume(db, operator())
    tell("resumed" if was_paused else "nothing was paused")


COMMANDS = [pause, resume]
