"""`python -m bench.rollups`: what keeping and reading the figures costs at 1,000,000 finished jobs.

One night of jobs, in minutes as busy as that makes them. It tells how long the duty takes for a
minute as a share of that minute, how long it takes to catch all of them up, and how long each
question of a report takes. A question that takes longer than its limit is exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial

from bench.server import private_bench
from worker.database.client import Database
from worker.reporting import events, figures, lanes, outlook
from worker.reporting.rollups import Rollups
from worker.reporting.spans import HOUR

JOBS = 1_000_000
ATTEMPTS = 50_000
HOURS = 10
WORKERS = 6
AT_ONCE = 10_000
READ_SECONDS = 600.0
LIMIT_SECONDS = 0.1
SHARE_LIMIT = 0.02


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS)
    jobs = parser.parse_args().jobs
    with (
        private_bench() as bench,
        closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db,
    ):
        print(f"{bench.version}: {jobs:,} finished jobs, {ATTEMPTS:,} attempts, in {HOURS} h")
        fill(db, jobs)
        is_cheap = _keep(db)
        return 0 if _ask(db) and is_cheap else 1


def fill(db: Database, jobs: int) -> None:
    """Put in a night of finished jobs, and the attempts that came before some of them."""
    db.lift_statement_limit()
    db.run_statement(
        "INSERT INTO runs (host, machine_id, boot_id, pid_namespace, pid, pid_started, first_slot, "
        "workers, total, started_at, heartbeat_at) VALUES ('h', '', '', 0, 1, 1, 0, 6, 6, "
        f"UTC_TIMESTAMP(6) - INTERVAL {HOURS} HOUR, UTC_TIMESTAMP(6))"
    )
    for slot in range(WORKERS):
        db.run_statement(
            "INSERT INTO workers (id, run_id, slot, pid, pid_started, started_at) VALUES "
            f"({100 + slot}, 1, {slot}, 1, 1, UTC_TIMESTAMP(6) - INTERVAL {HOURS} HOUR)"
        )
    for first in range(0, jobs, AT_ONCE):
        db.run_statement(_jobs_from(first, jobs))
    db.run_statement(
        "INSERT INTO job_attempts (job_id, fence, attempt, outcome, worker_id, incarnation, "
        "started_at, finished_at, ready_at) SELECT id, 0, 1, 'retry', worker_id, incarnation, "
        "started_at - INTERVAL 1 MINUTE, finished_at - INTERVAL 1 MINUTE, created_at "
        f"FROM work_queue WHERE id % {max(1, jobs // ATTEMPTS)} = 0"
    )
    db.run_statement("ANALYZE TABLE work_queue, job_attempts")


def _jobs_from(first: int, jobs: int) -> str:
    """Write the statement that puts the next jobs in, evenly over the night."""
    digits = " UNION ALL ".join(f"SELECT {digit} AS n" for digit in range(10))
    return (
        "INSERT INTO work_queue (payload, task, status, attempts, fence, incarnation, worker_id, "
        "created_at, started_at, finished_at, result) "
        f"WITH d AS ({digits}), numbers AS (SELECT {first} + a.n + 10 * b.n + 100 * c.n + "
        "1000 * e.n AS i FROM d a, d b, d c, d e) "
        "SELECT CONCAT('{\"url\": \"https://example.com/', i, '\"}'), "
        "ELT(1 + i % 3, 'visit', 'price', 'invoice'), 'done', 1 + (i % 20 = 0), 1, "
        f"100 + i % {WORKERS}, i % {WORKERS}, t - INTERVAL 4 HOUR, "
        't - INTERVAL (1 + i % 17) SECOND, t, \'{"title": "a result of usual length"}\' '
        "FROM (SELECT i, UTC_TIMESTAMP(6) - INTERVAL "
        f"ROUND({HOURS * 3600} * 1000000 * (1 - i / {jobs})) MICROSECOND AS t FROM numbers) timed"
    )


def _keep(db: Database) -> bool:
    keeper = Rollups.of(db, "bench")
    began, longest, beats = time.monotonic(), 0.0, 0
    is_more = True
    while is_more:
        beat_began = time.monotonic()
        is_more = keeper.beat()
        longest = max(longest, time.monotonic() - beat_began)
        beats += 1
    took = time.monotonic() - began
    print(f"  caught up in {took:.1f} s, {beats} beats, the longest {longest * 1000:.0f} ms")
    # In steady state a beat counts the minute that closed, and the one before once more.
    progress = db.fetch_all("read_writer")[0]
    began = time.monotonic()
    for _ in range(5):
        db.run_statement(
            "UPDATE rollup_writer SET counted_until = counted_until - INTERVAL 1 MINUTE, "
            "settled_until = counted_until - INTERVAL 1 MINUTE"
        )
        keeper.beat()
    minute = (time.monotonic() - began) / 5
    share = minute / 60
    print(f"  a closed minute: {minute * 1000:.0f} ms, {share:.2%} of the time")
    assert db.fetch_all("read_writer")[0]["counted_until"] >= progress["counted_until"]
    return share <= SHARE_LIMIT


def _ask(db: Database) -> bool:
    now: datetime = db.fetch_all("database_time")[0]["now"]
    night, hour = now - timedelta(hours=HOURS), now - timedelta(hours=1)
    questions: dict[str, Callable[[], object]] = {
        "per minute, an hour": partial(figures.per_minute, db, hour, now),
        "per minute, the night": partial(figures.per_minute, db, night, now),
        "per hour, the night": partial(figures.series, db, night, now, HOUR),
        "totals of the night": partial(figures.totals, db, night, now),
        "by task": partial(figures.by_task, db, night, now),
        "per worker": partial(figures.per_worker, db, night, now),
        "ever": partial(figures.ever, db),
        "events": partial(events.between, db, night, now),
        "timeline": partial(lanes.timeline, db, night, now),
        "outlook": partial(outlook.outlook, db),
    }
    is_fast = True
    for name, ask in questions.items():
        times = []
        for _ in range(5):
            began = time.monotonic()
            ask()
            times.append(time.monotonic() - began)
        took = sorted(times)[2]
        is_fast = is_fast and took <= LIMIT_SECONDS
        print(f"  {name}: {took * 1000:.0f} ms")
    return is_fast


if __name__ == "__main__":
    sys.exit(main())
