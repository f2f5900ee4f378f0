"""`launcher.py runs`: every run, when it was, what it came to and how it ended."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from worker.cli.connection import open_database
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_json
from worker.cli.status import slots
from worker.cli.wording import counted, duration, moment
from worker.database.client import Database
from worker.installation import command_line
from worker.recovery import live_runs
from worker.recovery.live_runs import Life, RunState
from worker.reporting import figures


@click.command("runs")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many to list."
)
@click.option("--before", type=int, metavar="RUN", help="Only runs before this number.")
@json_flag
def runs(limit: int, before: int | None, as_json: bool) -> None:
    """List the runs, the newest first."""
    with closing(open_database()) as db:
        found = live_runs.newest(db, limit, before)
        told = [run.as_json() | came_to(db, run) for run in found]
    if as_json:
        tell_json(told)
        return
    if not found:
        tell("no run yet; start one: python launcher.py" if before is None else "no earlier run")
    for run, counts in zip(found, told, strict=True):
        tell(_line(run, counts))
    if len(found) == limit and found[-1].run_id > 1:
        tell(f"more: {command_line('runs', '--before', found[-1].run_id)}", err=True)


def came_to(db: Database, run: RunState) -> dict[str, Any]:
    """Tell what a run came to: as it recorded, or counted where it could not record anything."""
    if run.summary is not None:
        return {name: run.summary.get(name) for name in ("done", "failed", "retried", "crashes")}
    until = run.over_at or figures.state(db).now
    mine = [
        each for each in figures.per_worker(db, run.started_at, until) if each.run_id == run.run_id
    ]
    return {
        "done": sum(each.figures.done for each in mine),
        "failed": sum(each.figures.failed for each in mine),
        "retried": sum(each.figures.again for each in mine),
        "crashes": None,
    }


def _line(run: RunState, counts: dict[str, Any]) -> str:
    over = run.over_at
    took = ""
    if over is not None:
        took = f" to {moment(over)} ({duration((over - run.started_at).total_seconds())})"
    how = run.ending if over is not None else str(run.life)
    if run.life is Life.SILENT:
        how = f"silent for {duration(run.silent_seconds)}"
    deaths = f", {counted(counts['crashes'], 'worker death')}" if counts["crashes"] else ""
    return (
        f"run {run.run_id} on {run.host}, {slots(run)}: {moment(run.started_at)}{took}, {how}: "
        f"{counts['done']:,} done, {counts['failed']:,} failed, {counts['retried']:,} tried again"
        f"{deaths}"
    )


COMMANDS = [runs]
