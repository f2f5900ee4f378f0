"""`launcher.py pause` and `resume`: hold every pool on the database, and let it go on."""

from __future__ import annotations

from contextlib import closing

import click

from worker.cli.connection import open_database
from worker.cli.wording import operator
from worker.queue import pause as pausing


@click.command("pause")
@click.option("--reason", default="by hand", show_default=True, help="Shown to whoever wonders.")
def pause(reason: str) -> None:
    """Let no pool claim new jobs; jobs in flight are finished, browsers stay warm."""
    with closing(open_database()) as db:
        pausing.pause(db, reason, operator())
    click.echo("paused: no pool on this database claims anything more; resume: launcher.py resume")


@click.command("resume")
def resume() -> None:
    """Let paused pools claim again."""
    with closing(open_database()) as db:
        was_paused = pausing.resume(db)
    click.echo("resumed" if was_paused else "nothing was paused")


COMMANDS = [pause, resume]
