"""`launcher.py todo`: everything that waits for a person, in one list."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict

import click

from worker.cli.connection import open_database
from worker.cli.options import json_flag
from worker.cli.output import tell_all, tell_json
from worker.cli.wording import counted, moment
from worker.history.todo import Item, Todo
from worker.recovery.unswept import everything


@click.command("todo")
@json_flag
def todo(as_json: bool) -> None:
    """Show what waits for a person: why, since when, how many jobs hang on it, and the command.

    Jobs that may be half done, failed jobs that their order waits for, profiles in review or
    quarantined or whose browser cannot be stopped, overdue checkouts, paused accounts, proxies out
    of use, breakers held open, and a pause of all runs.
    """
    with closing(open_database()) as db:
        found = everything(db)
    if as_json:
        tell_json(asdict(found))
        return
    tell_all(_lines(found))


def _lines(found: Todo) -> list[str]:
    if not found.items:
        return ["nothing waits for a person"]
    lines = [f"{counted(len(found.items), 'thing')} to do:"]
    for item in found.items:
        lines += [
            f"  {item.kind} {item.name}: {item.reason}",
            f"    {_since(item)}{_jobs(item, found)}; {item.command}",
        ]
    return lines


def _since(item: Item) -> str:
    return f"since {moment(item.since)}, " if item.since is not None else ""


def _jobs(item: Item, found: Todo) -> str:
    if item.kind == "half done":
        return counted(item.jobs, "job")
    at_least = "at least " if found.is_lower_bound and item.jobs else ""
    return f"{at_least}{counted(item.jobs, 'pending job')} hang{'s' * (item.jobs == 1)} on it"


COMMANDS = [todo]
