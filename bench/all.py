"""`make bench`: every row of the table in one run, bounded in time; then docs/performance.md.

Each group is a command of its own, so that one that fails costs its own rows only: they are not met
and say why. Servers and packages to compare with are fetched before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import harness, machine, peers, performance
from bench.groups import GROUPS, Group
from bench.harness import Found, Row
from bench.server import PREFIX
from worker.database.private_server import PrivateServer
from worker.settings import PROJECT_ROOT
from worker.system.process_tree import identify, kill_tree

MINUTES = 25.0
RESULTS = PROJECT_ROOT / "bench" / "results" / "latest.json"
MYSQL = PROJECT_ROOT / ".local" / "mysql-9.7" / "mysqld"
FETCH_SECONDS = 600.0
# A group that is told to stop takes its server down with it.
STOP_SECONDS = 30.0
# Fewer rounds than that would say nothing.
LEAST_SHARE = 0.3


def main() -> int:
    """Measure, keep and show; return the exit code: 1 when a target is missed.

    With `--tiny` no target counts, but 1 says that something could not be measured.
    """
    options = _options()
    chosen = [g for g in GROUPS if not options.only or g.name in options.only.split(",")]
    if not chosen:
        names = ", ".join(group.name for group in GROUPS)
        print(f"no group is called {options.only}; there are: {names}", file=sys.stderr)
        return 2
    harness.end_on_sigterm()
    _prepare(chosen)
    document: dict[str, Any] = {
        "when": datetime.now(UTC).isoformat(timespec="minutes"),
        "machine": machine.facts(),
        "groups": {},
    }
    all_found = _measure(chosen, document, options)
    print(performance.table_of(document))
    if options.results and options.results.resolve() == RESULTS:
        performance.write(document)
    if options.tiny:
        return 0 if all(found.is_measured for found in all_found) else 1
    return 0 if options.no_check or all(found.is_met for found in all_found) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.all", description=__doc__)
    parser.add_argument("--only", default="", help="groups by name, separated by commas")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="time for all of it")
    parser.add_argument("--tiny", action="store_true", help="only show that it works")
    parser.add_argument("--no-check", action="store_true", help="exit 0 whatever is missed")
    parser.add_argument(
        "--results", type=Path, help=f"write JSON there (all of it: {RESULTS.name}, and the page)"
    )
    options = parser.parse_args()
    if options.results is None and not options.only and not options.tiny:
        options.results = RESULTS
    return options


def _measure(
    chosen: Sequence[Group], document: dict[str, Any], options: argparse.Namespace
) -> list[Found]:
    """Run the groups one after the other; what is found is kept at once."""
    deadline = time.monotonic() + 60 * options.minutes
    all_found = []
    for number, group in enumerate(chosen):
        began = time.monotonic()
        harness.say(f"{group.title}: {group.command}")
        rounds = seconds_for(chosen[number:], deadline - began)
        found = run(group, rounds, deadline - began, tiny=options.tiny)
        took = time.monotonic() - began
        harness.say(f"{group.title}: {took:.0f} s, meant to be {group.whole:.0f}")
        document["groups"][group.name] = {**harness.as_json(found), "seconds": round(took, 1)}
        all_found.append(found)
        if options.results:
            _keep(document, options.results)
    return all_found


def seconds_for(groups: Sequence[Group], left: float) -> float:
    """Tell how long the rounds of the first of the groups may take.

    All get a smaller share of what they are meant to have when those before them took longer.
    """
    first = groups[0]
    wanted = sum(group.seconds for group in groups)
    spare = left - sum(group.fixed for group in groups)
    share = max(LEAST_SHARE, spare / wanted) if wanted else 1.0
    return first.seconds * (share if first.takes_the_rest else min(share, 1.0))


def run(group: Group, rounds: float, left: float, *, tiny: bool) -> Found:
    """Run one group, no longer than its limit; what goes wrong is rows that are not met."""
    seconds = min(group.limit if not group.takes_the_rest else left, left)
    if seconds <= 0:
        return lost(group, "the time was up")
    command = [sys.executable, "-m", group.module, *group.flags, "--json", "--no-check"]
    # Some measure a fixed amount of work, and have no use for the time.
    command += ["--tiny"] if tiny else ["--seconds", f"{rounds:.0f}"]
    environment = {**os.environ, "NIGHTSHIFT_MYSQLD": str(MYSQL)} if group.on_mysql else None
    process = subprocess.Popen(
        command, cwd=PROJECT_ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        out, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        stop(process)
        return lost(group, f"it took longer than {seconds:.0f} s")
    except BaseException:
        stop(process)
        raise
    try:
        return harness.from_json(json.loads(out.splitlines()[-1]))
    except (IndexError, ValueError, KeyError, TypeError):
        return lost(group, f"exit code {process.returncode}; see its lines above")


def stop(process: subprocess.Popen[str]) -> None:
    """Have it stop its servers and pools; kill it, them and their servers if it does not."""
    process.terminate()
    try:
        process.communicate(timeout=STOP_SECONDS)
        return
    except subprocess.TimeoutExpired:
        harness.say(f"killed: it does not end within {STOP_SECONDS:.0f} s")
    started = identify(process.pid)
    if started is not None:
        kill_tree(started)
    process.kill()
    # A private server outlives who started it.
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}{process.pid}-*/mysql"):
        PrivateServer(folder).stop()
    try:
        process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        harness.say("somebody still holds its output; it is left behind")


def lost(group: Group, why: str) -> Found:
    """Make rows of a group that could not be measured: one for each of its targets."""
    note = f"{group.title}: not measured: {why}"
    targets = group.targets or (("–", ""),)
    return Found(
        [Row(group.title, what, wanted=wanted, met=False, note=note) for what, wanted in targets]
    )


def _prepare(groups: Sequence[Group]) -> None:
    """Fetch what is compared with; what cannot be had is said by its rows."""
    try:
        if any(group.on_mysql for group in groups) and not MYSQL.exists():
            subprocess.run(
                [PROJECT_ROOT / "deploy" / "fetch-mysql.sh"], check=False, timeout=FETCH_SECONDS
            )
        if any(group.module in ("bench.peers", "bench.pages") for group in groups):
            peers.have_environment()
    except subprocess.TimeoutExpired as error:
        harness.say(f"{error}: it is done without")


def _keep(document: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
