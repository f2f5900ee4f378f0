"""A real launcher at work on a bench's private queue: how it is called, whom it has at work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.server import Bench
from worker.database.client import Database
from worker.settings import PROJECT_ROOT
from worker.system.process_tree import descendants

STOP_SECONDS = 30.0
LOG_TAIL_LINES = 40


def command(bench: Bench, workers: int | str, tasks: str, *flags: str) -> list[str]:
    """Write the command line of a run whose evidence goes into the bench's folder."""
    return [
        *(sys.executable, str(PROJECT_ROOT / "launcher.py"), "run"),
        *("--workers", str(workers)),
        *("--tasks", tasks),
        *("--errors-dir", str(bench.folder / "errors")),
        *flags,
    ]


def environment(bench: Bench, **variables: str) -> dict[str, str]:
    """Take the environment as it is, but for whatever would lead away from the bench.

    Nobody's Python compiles all of Nightshift at every start: that it may not keep what it has
    compiled is left out too.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NIGHTSHIFT_", "MYSQL_", "PYTHONDONTWRITE"))
        or name == "NIGHTSHIFT_BROWSER"
    }
    database = bench.database
    return kept | {
        "DATABASE_URL": f"mysql://root@localhost/{database.database}?socket={database.unix_socket}",
        "NIGHTSHIFT_ENV_FILE": os.devnull,
        "NIGHTSHIFT_STATE_DIR": str(bench.folder / "state"),
        **variables,
    }


def stop(launcher: subprocess.Popen[bytes]) -> None:
    """Make sure that a launcher has ended, and its children with it."""
    launcher.terminate()
    try:
        launcher.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        launcher.kill()
        launcher.wait()


def living_workers(db: Database, launcher: subprocess.Popen[bytes]) -> dict[int, int]:
    """Find the incarnations at work and their processes; heart and courier are none of them."""
    children = {stat.pid for stat in descendants(launcher.pid) if stat.parent == launcher.pid}
    rows = db.run_statement("SELECT id, pid FROM workers WHERE ended_at IS NULL ORDER BY id")
    return {int(row["id"]): row["pid"] for row in rows if row["pid"] in children}


def tail(log: Path) -> list[str]:
    """Read the last lines of a log."""
    return log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_TAIL_LINES:]
