"""`make bench`: every row of the table in one run, bounded in time; then docs/performance.md.

Each group is a command of its own, so that one that fails costs its own rows only: they are not met
and say why. Servers and packages to compare with are fetched before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import harness, machine, peers, performance
from bench.groups import GROUPS, Group
from bench.harness import Found
from worker.settings import PROJECT_ROOT

MINUTES = 25.0
RESULTS = PROJECT_ROOT / "bench" / "results" / "latest.json"
MYSQL = PROJECT_ROOT / ".local" / "mysql-9.7" / "mysqld"
FETCH_SECONDS = 600.0
# A group that is told to stop takes its server down with it.
STOP_SECONDS = 30.0


def main() -> int:
    """Measure, keep and show; return the exit code: 1 when a target is missed."""
    options = _options()
    chosen = [g for g in GROUPS if not options.only or g.name in options.only.split(",")]
    if not chosen:
        names = ", ".join(group.name for group in GROUPS)
        print(f"no group is called {options.only}; there are: {names}", file=sys.stderr)
        return 2
    _prepare(chosen)
    document: dict[str, Any] = {
        "when": datetime.now(UTC).isoformat(timespec="minutes"),
        "machine": machine.facts(),
        "groups": {},
    }
    deadline = time.monotonic() + 60 * options.minutes
    for group in chosen:
        harness.say(f"{group.title}: {group.command}")
        found = run(group, min(group.limit, deadline - time.monotonic()), tiny=options.tiny)
        document["groups"][group.name] = harness.as_json(found)
    print(performance.table_of(document))
    if options.results:
        _keep(document, options.results)
    met = all(harness.from_json(each).is_met for each in document["groups"].values())
    return 0 if met or options.no_check or options.tiny else 1


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


def run(group: Group, seconds: float, *, tiny: bool) -> Found:
    """Run one group no longer than that; what goes wrong is a row that is not met."""
    if seconds <= 0:
        return _lost(group, "not measured: the time was up")
    command = [sys.executable, "-m", group.module, *group.flags, "--json", "--no-check"]
    # Some measure a fixed amount of work, and have no use for the time.
    command += ["--tiny"] if tiny else ["--seconds", str(group.seconds)]
    environment = {**os.environ, "NIGHTSHIFT_MYSQLD": str(MYSQL)} if group.on_mysql else None
    process = subprocess.Popen(
        command, cwd=PROJECT_ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        out, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _stop(process)
        return _lost(group, f"not measured: it took longer than {seconds:.0f} s")
    except BaseException:
        _stop(process)
        raise
    if process.returncode:
        return _lost(group, f"not measured: exit code {process.returncode}; see its lines above")
    return harness.from_json(json.loads(out.splitlines()[-1]))


def _stop(process: subprocess.Popen[str]) -> None:
    """Interrupt it, so that it stops its servers and pools; then kill it."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _lost(group: Group, why: str) -> Found:
    return Found([harness.missing(group.title, "–", None, f"{group.title}: {why}")])


def _prepare(groups: list[Group]) -> None:
    """Fetch what is compared with; what cannot be had is said by its rows."""
    if any(group.on_mysql for group in groups) and not MYSQL.exists():
        subprocess.run(
            [PROJECT_ROOT / "deploy" / "fetch-mysql.sh"], check=False, timeout=FETCH_SECONDS
        )
    if any(group.module in ("bench.peers", "bench.pages") for group in groups):
        peers.have_environment()


def _keep(document: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if path.resolve() == RESULTS:
        performance.write(document)


if __name__ == "__main__":
    sys.exit(main())
