"""`python -m bench.enqueue`: `launcher.py enqueue` of a CSV file against raw bulk INSERT.

Both sides put the same rows into the same emptied queue, in rounds that alternate. The raw side's
statements are made beforehand, so that it does nothing but send them. Exit code 1: a missed limit.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pymysql

from bench import harness
from bench.harness import Found, alone, at_least, below, compared
from bench.server import Bench, private_bench
from worker.database.bulk_insert import MAX_STATEMENT_ROWS
from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.settings import PROJECT_ROOT

MIN_SHARE = 0.8
TINY_LINES = 1_000
# A tenth of the lines, to see whether memory grows with them.
SMALLER_BY = 10
MAX_GROWTH_MB = 10.0
READ_SECONDS = 600.0
_RAW = "INSERT INTO work_queue (task, payload) VALUES "


@dataclass(frozen=True, slots=True)
class Round:
    """One enqueue, from the start of its process to its end, and the raw INSERT beside it."""

    seconds: float
    raw_seconds: float
    peak_mb: float

    @property
    def share(self) -> float:
        return self.raw_seconds / self.seconds


def measure(bench: Bench, source: Path, lines: int, number: int) -> Round:
    """Run both sides, every other time in the other order."""
    if number % 2 == 0:
        raw_seconds = insert_raw(bench.database, lines)
        seconds, peak_mb = enqueue(bench, source)
    else:
        seconds, peak_mb = enqueue(bench, source)
        raw_seconds = insert_raw(bench.database, lines)
    done = Round(seconds, raw_seconds, peak_mb)
    print(
        f"round {number + 1}: enqueue {seconds:.1f} s, raw {raw_seconds:.1f} s, "
        f"share {done.share:.2f}, peak {peak_mb:.0f} MB",
        file=sys.stderr,
        flush=True,
    )
    return done


def enqueue(bench: Bench, source: Path) -> tuple[float, float]:
    """Enqueue a file with the real command; return its seconds and its peak memory in MB."""
    _empty(bench.database)
    settings = bench.database
    url = f"mysql://{settings.user}@localhost/{settings.database}?socket={settings.unix_socket}"
    environment = {**os.environ, "DATABASE_URL": url, "NIGHTSHIFT_ENV_FILE": os.devnull}
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "launcher.py", "enqueue", source],
        cwd=PROJECT_ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    peak_mb = 0.0
    while process.poll() is None:
        peak_mb = max(peak_mb, _peak_mb(process.pid))
        time.sleep(0.02)
    seconds = time.monotonic() - began
    if process.returncode:
        raise RuntimeError(f"enqueue ended with exit code {process.returncode}")
    return seconds, peak_mb


def _peak_mb(pid: int) -> float:
    # Not from wait4(): what that tells begins with the memory of the process that forked.
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s*(\d+) kB", text)
    return int(found[1]) / 1024 if found else 0.0


def insert_raw(settings: DatabaseSettings, lines: int) -> float:
    """Send statements that lie ready, in one transaction; return the seconds."""
    _empty(settings)
    statements = list(_statements(lines))
    connection = pymysql.connect(
        user=settings.user,
        unix_socket=settings.unix_socket,
        database=settings.database,
        charset="utf8mb4",
    )
    with closing(connection):
        began = time.monotonic()
        connection.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        connection.query("BEGIN")
        for statement in statements:
            connection.query(statement)
        connection.query("COMMIT")
        return time.monotonic() - began


def _statements(lines: int) -> Iterator[bytes]:
    for start in range(0, lines, MAX_STATEMENT_ROWS):
        rows = range(start, min(start + MAX_STATEMENT_ROWS, lines))
        values = ",".join(f"('visit', '{json.dumps(_row(number))}')" for number in rows)
        yield (_RAW + values).encode()


def _row(number: int) -> dict[str, str]:
    return {"url": f"https://shop.example/products/{number}", "sku": f"N-{number:07d}"}


def _write_csv(path: Path, lines: int) -> Path:
    with path.open("w", encoding="utf-8") as file:
        file.write("url,sku\n")
        file.writelines(",".join(_row(number).values()) + "\n" for number in range(lines))
    return path


def _empty(settings: DatabaseSettings) -> None:
    with closing(Database(settings, read_timeout_seconds=READ_SECONDS)) as db:
        db.run_statement("TRUNCATE work_queue")


def measure_all(bench: Bench, options: argparse.Namespace) -> Found:
    """Enqueue a tenth of the lines, then all of them by turns with the raw side."""
    lines = TINY_LINES if options.tiny else options.lines
    small = _write_csv(bench.folder / "small.csv", max(1, lines // SMALLER_BY))
    whole = _write_csv(bench.folder / "whole.csv", lines)
    _, small_mb = enqueue(bench, small)
    rounds = [measure(bench, whole, lines, n) for n in range(1 if options.tiny else options.rounds)]
    share = compared(
        f"enqueue of {lines:,} lines", "raw bulk INSERT",
        [lines / each.seconds for each in rounds], [lines / each.raw_seconds for each in rounds],
        at_least(MIN_SHARE), unit="jobs/s",
    )  # fmt: skip
    if len(rounds) == 1:
        share = replace(share, note=f"enqueue of {lines:,} lines: one round")
    growth = max(each.peak_mb for each in rounds) - small_mb
    memory = alone(
        "memory of enqueue above that of a tenth of the lines", [growth],
        below(MAX_GROWTH_MB, "MB"), unit="MB",
    )  # fmt: skip
    return Found([share, memory], facts={"server": bench.version})


def main() -> int:
    """Measure on a private server; return the exit code."""
    parser = harness.parser("bench.enqueue", __doc__, seconds=80)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = harness.read(parser)
    with private_bench() as bench:
        return harness.tell(measure_all(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
