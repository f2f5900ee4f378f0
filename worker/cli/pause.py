"""`launcher.py pause` and `resume`: hold every pool or one queue, and let it go on."""

from __future__ import annotations

from contextlib import closing

import click

from worker.cli.connection import open_database
from worker.cli.options import QUEUE
from worker.cli.output import tell
from worker.cli.wording import operator
from worker.installation import command_line
from worker.queue import pause as pausing


@click.command("pause")
@click.option(
    "--reason", default="by hand", show_default=True, help="Why; shown by `status` and `why`."
)
@click.option("--queue", type=QUEUE, metavar="NAME", help="Only jobs of this queue.")
def pause(reason: str, queue: str | None) -> None:
    """Stop every run on the database from claiming jobs, or jobs of one queue.

    Running jobs finish, and the browsers stay open.
    """
    with closing(open_database()) as db:
        pausing.pause(db, reason, operator(), queue)
    if queue is None:
        tell("paused: no run on this database claims new jobs; continue with: launcher.py resume")
    else:
        tell(
            f"paused: no run claims new jobs of the queue {queue}; "
            f"continue with: {command_line('resume', '--queue', queue)}"
        )


@click.command("resume")
@click.option("--queue", type=QUEUE, metavar="NAME", help="The queue that was paused by itself.")
def resume(queue: str | None) -> None:
    """Let paused runs claim jobs again. A queue that was paused by itself is resumed by itself."""
    with closing(open_database()) as db:
        was_paused = pausing.resume(db, operator(), queue)
        others = [row["queue"] for row in pausing.paused_queues(db)]
    tell("resumed" if was_paused else "nothing was paused")
    if others and queue is None:
        tell(f"still paused by themselves: {', '.join(others)}; launcher.py resume --queue NAME")


COMMANDS = [pause, resume]
