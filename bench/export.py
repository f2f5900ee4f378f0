"""`python -m bench.export`: `launcher.py export` of 1,000,000 results against a raw SELECT of them.

The raw side reads the same columns, unbuffered, and does nothing with them: it neither orders them
nor writes anything. Both are timed as whole processes would be: from the call to the last row.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from contextlib import closing

import pymysql
from pymysql.cursors import SSCursor

from bench import harness, launched
from bench.harness import Found, at_least
from bench.numbers import have_numbers
from bench.server import Bench, private_bench
from bench.turns import take_turns
from worker.database.client import Database
from worker.settings import PROJECT_ROOT

ROWS, TINY_ROWS = 1_000_000, 2_000
AT_ONCE = 100_000
READ_SECONDS = 300.0
EXPORT_SECONDS = 300.0
_FILL = """
INSERT INTO work_queue (id, task, payload, status, attempts, fence, worker_id, incarnation,
                        started_at, finished_at, result)
SELECT n + 1, 'visit', CONCAT('{{"url": "https://shop.example/products/', n, '"}}'),
       'done', 1, 1, 0, 1, UTC_TIMESTAMP(6) - INTERVAL 2 HOUR,
       UTC_TIMESTAMP(6) - INTERVAL 2 HOUR + INTERVAL n MICROSECOND,
       CONCAT('{{"title": "Product ', n, '", "price": ', n % 1000, '.95}}')
  FROM bench_numbers WHERE n >= {first} AND n < {last} ORDER BY n
"""
_RAW = """
SELECT id, task, status, attempts, payload, result, last_error, created_at, started_at,
       finished_at, used_profile, used_account, used_proxy
  FROM work_queue WHERE status = 'done'
"""


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Fill the queue once, then read it both ways by turns."""
    rows = TINY_ROWS if options.tiny else ROWS
    began = time.monotonic()
    with closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db:
        db.lift_statement_limit()
        have_numbers(db, rows)
        for first in range(0, rows, AT_ONCE):
            db.run_statement(_FILL.format(first=first, last=min(first + AT_ONCE, rows)))
    filled = time.monotonic() - began
    sides = {"export": lambda: _export(bench, rows), "SELECT": lambda: _select(bench, rows)}
    rates = take_turns(sides, seconds=options.seconds - filled, least=min(options.least, 2))
    row = rates.row(
        f"export of {rows:,} results", "raw unbuffered SELECT", "export", "SELECT", at_least(0.5),
        unit="rows/s",
    )  # fmt: skip
    return Found([row], facts={"server": bench.version})


def _export(bench: Bench, rows: int) -> float:
    target = bench.folder / "results.jsonl"
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "launcher.py", "export", "-o", target],
        cwd=PROJECT_ROOT, env=launched.environment(bench), check=True, timeout=EXPORT_SECONDS,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    seconds = time.monotonic() - began
    with target.open("rb") as file:
        lines = sum(1 for _ in file)
    if lines != rows:
        raise RuntimeError(f"{lines} of {rows} results were exported")
    return rows / seconds


def _select(bench: Bench, rows: int) -> float:
    began = time.monotonic()
    connection = pymysql.connect(
        user=bench.database.user, unix_socket=bench.database.unix_socket,
        database=bench.database.database, charset="utf8mb4", cursorclass=SSCursor,
    )  # fmt: skip
    with closing(connection), connection.cursor() as cursor:
        cursor.execute(_RAW)
        read = sum(1 for _ in cursor)
        if read != rows:
            raise RuntimeError(f"{read} of {rows} rows were read")
        return rows / (time.monotonic() - began)


def main() -> int:
    """Measure on one server; return the exit code."""
    options = harness.read(harness.parser("bench.export", __doc__, seconds=120))
    with private_bench() as bench:
        return harness.tell(measure(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
