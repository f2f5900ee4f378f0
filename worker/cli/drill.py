"""`launcher.py drill`: harm a real run on a scratch database, then count every job."""

from __future__ import annotations

import signal
import time
from types import FrameType
from typing import Any

import click

from worker.cli.connection import state_dir
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.drill.cluster.course import run_cluster_drill
from worker.drill.cluster.world import KINDS, cluster_world
from worker.drill.course import run_drill
from worker.drill.scratch import scratch_world
from worker.exit_codes import ExitCode
from worker.system.fork import adopt_orphans


@click.command("drill")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=5000,
    show_default=True,
    help="How many jobs to run.",
)
@click.option(
    "--faults",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    help="How many faults to inject.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=6,
    show_default=True,
    help="How many workers to start.",
)
@click.option(
    "--seed", type=int, help="Seed of an earlier drill, to repeat its faults.  [default: the time]"
)
@click.option(
    "--cluster",
    type=click.Choice(list(KINDS)),
    help="Harm a cluster of three members behind HAProxy instead, under three launchers (as root).",
)
@click.option("--keep", is_flag=True, help="Keep the scratch folder until the next drill.")
@json_flag
def drill(
    jobs: int,
    faults: int,
    workers: int,
    seed: int | None,
    cluster: str | None,
    keep: bool,
    as_json: bool,
) -> int:
    """Kill, stop and cut off the parts of a real run, then count every job.

    It runs on a scratch database and never touches yours. The exit code is 1 if a job was lost,
    finished twice, held by two workers at once or ended as an error without its fault, or if a
    process or temporary folder is left.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    # A shell that starts us in the background makes us ignore SIGINT; undo that.
    signal.signal(signal.SIGINT, _interrupt)
    # Become the parent of what a killed launcher leaves, to reap it and to find what still runs.
    adopt_orphans()
    began = time.monotonic()

    def say(text: str) -> None:
        tell(f"drill: {text}, {time.monotonic() - began:.0f} s", err=True)

    how: dict[str, Any] = {"jobs": jobs, "faults": faults, "workers": workers, "say": say}
    how["seed"] = int(time.time()) if seed is None else seed
    if cluster is None:
        with scratch_world(state_dir(), keep=keep) as scratch:
            say(f"{scratch.version} in {scratch.folder}")
            report = run_drill(scratch, **how)
    else:
        with cluster_world(state_dir(), cluster, keep=keep) as world:
            say(f"{world.version} in {world.folder}")
            report = run_cluster_drill(world, **how)
    if as_json:
        tell_json(report.as_json())
    else:
        tell_all(report.lines())
    return ExitCode.OK if report.is_clean else ExitCode.UNEXPECTED


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Let a signal end the drill as Ctrl-C does, together with all it started."""
    raise KeyboardInterrupt


COMMANDS = [drill]
