"""`launcher.py rollups`: how far the figures are, and working them out anew."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime, timedelta

import click

from worker.cli.connection import open_database
from worker.cli.groups import DefaultGroup
from worker.cli.options import AGE, json_flag
from worker.cli.output import tell, tell_json
from worker.cli.wording import duration, moment, operator
from worker.errors import RunLocked
from worker.reporting import figures
from worker.reporting.rollups import Rollups
from worker.reporting.spans import EARLIEST


@click.group("rollups", cls=DefaultGroup)
def rollups() -> None:
    """Show or rebuild the figures behind reports and the dashboard."""


@rollups.command("list")
@json_flag
def list_rollups(as_json: bool) -> None:
    """Say how far the figures are, and who keeps them."""
    with closing(open_database()) as db:
        known = figures.state(db)
    if as_json:
        counted = None if known.counted_until == EARLIEST else known.counted_until
        tell_json({"counted_until": counted, "now": known.now, "owner": known.owner})
    elif known.counted_until == EARLIEST:
        tell("nothing is counted yet; the next run does that")
    else:
        keeper = f"kept by {known.owner}" if known.owner else "kept by nobody: the next run goes on"
        late = duration((known.now - known.counted_until).total_seconds())
        tell(f"counted until {moment(known.counted_until)}, {late} ago; {keeper}")


@rollups.command("rebuild")
@click.option("--since", type=AGE, required=True, help="From the day this long ago: 7d, 12h.")
def rebuild(since: float) -> None:
    """Work the figures out anew, from the jobs and attempts that are still there.

    Runs may go on meanwhile. Jobs that were deleted, rather than archived, are in no figure then.
    """
    with closing(open_database()) as db:
        now = figures.state(db).now
        moment_ = now - timedelta(seconds=min(since, (now - EARLIEST).total_seconds()))
        keeper = Rollups.of(db, f"rebuild by {operator()}")
        if not keeper.rebuild(moment_):
            raise RunLocked("another command rebuilds the figures; try again when it has ended")
        until = figures.state(db).counted_until
    tell(f"rebuilt the figures from {_day(moment_)} to {moment(until)}")


def _day(value: datetime) -> str:
    return f"{value:%Y-%m-%d}"


COMMANDS = [rollups]
