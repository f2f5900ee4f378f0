"""How long the dashboard's pages take at 1,000,000 jobs and 50,000 errors: `make bench-dashboard`.

It fills a scratch database by SQL, asks for every page again and again, and tells p50 and p95 of
the server's own time. Exit code 1 when a page's p95 is 100 ms or more, or it makes over 8
statements.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from flask.testing import FlaskClient

from bench import harness
from bench.harness import Found, alone, below
from bench.sample_night import leave_evidence
from bench.server import Bench, private_bench
from worker.dashboard.app import create_app
from worker.dashboard.config import DashboardConfig
from worker.database.client import Database
from worker.reporting.rollups import Rollups
from worker.system.identity import this_host

LIMIT_MS, MOST_STATEMENTS = 100.0, 8
TINY_JOBS = 2_000
PAGES = (
    "/", "/?range=1h", "/?range=week", "/errors", "/jobs", "/jobs?state=ready",
    "/jobs?state=waiting", "/jobs?state=done", "/jobs?state=error", "/jobs?state=error&task=price",
    "/jobs?state=error&site=shop7.example.com", "/jobs?state=done&site=shop7.example.com",
    "/jobs?text=p/999", "/jobs?text=nowhere", "/jobs?group=00000000000000a1", "/jobs?queue=slow",
    "/jobs?batch=monday", "/jobs?batch=monday&state=error", "/jobs?batch=monday&task=price",
    "/jobs?parent=1", "/jobs/1", "/jobs/900000", "/jobs/950010", "/jobs/999000",
    "/queues", "/queues/batches", "/live", "/workers", "/runs/1", "/timeline", "/timeline?range=3d",
    "/timeline?until={ago}", "/profiles", "/limits", "/reports", "/audit",
    "/api/v1/status", "/api/v1/errors", "/api/v1/queues", "/api/v1/jobs?state=done",
    "/api/v1/jobs/950010", "/api/v1/runs", "/api/v1/events", "/api/v1/audit",
)  # fmt: skip
# Digits 0 to 9, crossed with themselves: as many rows as are wanted.
DIGITS = " CROSS JOIN ".join(
    f"(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 "
    f"UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL "
    f"SELECT 9) t{place}"
    for place in range(6)
)
NUMBER = " + ".join(f"t{place}.d * {10**place}" for place in range(6))
FILL = f"""
INSERT INTO work_queue (id, payload, status, worker_id, incarnation, attempts, task, fence,
                        created_at, started_at, finished_at, fingerprint, last_error, not_before,
                        queue, batch, parent_id, root_id, depth)
SELECT n + 1, CONCAT('{{"url": "https://shop', n MOD 50, '.example.com/p/', n, '"}}'),
       s, 0, 1, IF(s = 'pending', 0, 1), IF(n MOD 3 = 0, 'price', 'visit'), IF(s = 'pending', 0, 1),
       UTC_TIMESTAMP(6) - INTERVAL 40000 SECOND,
       IF(s = 'pending', NULL, UTC_TIMESTAMP(6) - INTERVAL (1000000 - n) DIV 25 + 3 SECOND),
       IF(s = 'pending', NULL, UTC_TIMESTAMP(6) - INTERVAL (1000000 - n) DIV 25 SECOND),
       IF(s = 'error', LPAD(LOWER(HEX(160 + n MOD 12)), 16, '0'), NULL),
       IF(s = 'error', REPEAT('Traceback line\\n', 20), NULL),
       IF(s = 'pending' AND n MOD 10 = 0, UTC_TIMESTAMP(6) + INTERVAL n SECOND, NULL),
       IF(n MOD 40 = 7, 'slow', 'default'), IF(n MOD 2, 'monday', NULL),
       IF(n MOD 10 = 3, 1, NULL), IF(n MOD 10 = 3, 1, NULL), IF(n MOD 10 = 3, 1, 0)
  FROM (SELECT {NUMBER} AS n,
               CASE WHEN {NUMBER} >= %(jobs)s * 0.97 THEN 'pending'
                    WHEN ({NUMBER}) MOD 19 = 0 THEN 'error' ELSE 'done' END AS s
          FROM {DIGITS}) numbers
 WHERE n < %(jobs)s AND n >= %(start)s AND n < %(end)s
"""
ATTEMPTS = """
INSERT INTO job_attempts (job_id, fence, attempt, outcome, worker_id, incarnation, started_at,
                          finished_at, reason, fingerprint, evidence, evidence_host, has_ended_job)
SELECT id, fence, 1, 'error', 0, 1, started_at, finished_at, 'HTTP 503', fingerprint,
       CONCAT(id, '/1'), %(host)s, TRUE
  FROM work_queue WHERE status = 'error'
"""
GROUPS = """
INSERT INTO failure_groups (fingerprint, task, label, first_seen, last_seen, failures, sample_job,
                            sample_attempt)
SELECT fingerprint, MAX(task), CONCAT('visit: HTTP 503 ', fingerprint), MIN(finished_at),
       MAX(finished_at), COUNT(*), MAX(id), 1
  FROM work_queue WHERE status = 'error' GROUP BY fingerprint
"""
BATCH = (
    "INSERT INTO batches (name, created_at, created_by) VALUES ('monday', UTC_TIMESTAMP(6), 'me')"
)
RUN = """
INSERT INTO runs (id, host, machine_id, boot_id, pid_namespace, pid, pid_started, first_slot,
                  workers, total, started_at, heartbeat_at)
VALUES (1, 'bench', '', REPEAT('0', 36), 1, 1, 1, 0, 6, 6, UTC_TIMESTAMP(6) - INTERVAL 40000 SECOND,
        UTC_TIMESTAMP(6))
"""


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Fill, then ask for every page."""
    jobs = TINY_JOBS if options.tiny else options.jobs
    rounds = 2 if options.tiny else options.rounds
    with closing(Database(bench.database, read_timeout_seconds=600)) as db:
        _fill(db, jobs)
        _leave_evidence(db, bench.folder / "errors", _an_error(jobs))
    folder = bench.folder
    config = DashboardConfig(
        bench.database, folder / "errors", folder / "state" / "people.json", folder / "state"
    )
    client = create_app(config).test_client()
    client.get("/")
    slowest, too_many = (0.0, ""), []
    for page in PAGES:
        times, statements = _ask(client, _at(page, jobs), rounds)
        p95 = times[int(len(times) * 0.95)]
        slowest = max(slowest, (p95, page))
        too_many += [page] if statements > MOST_STATEMENTS else []
        harness.say(f"{page:32} p50 {times[len(times) // 2]:6.1f}  p95 {p95:6.1f}  {statements}")
    row = alone(
        f"dashboard at {jobs:,} jobs, p95 of the slowest page", [slowest[0]],
        below(LIMIT_MS, "ms"), unit="ms", note=f"the slowest of {len(PAGES)} pages: {slowest[1]}",
    )  # fmt: skip
    if too_many:
        note = f"more than {MOST_STATEMENTS} statements: {', '.join(too_many)}"
        row = replace(row, met=False, note=note)
    return Found([row], facts={"server": bench.version})


def _at(page: str, jobs: int) -> str:
    """Name jobs that are there also among fewer."""
    done, pending = str(jobs * 9 // 10), str(jobs * 999 // 1000)
    error = str(_an_error(jobs))
    ago = f"{datetime.now(UTC) - timedelta(days=2):%Y-%m-%dT%H:%M}"
    page = page.replace("{ago}", ago)
    return page.replace("950010", error).replace("900000", done).replace("999000", pending)


def _ask(client: FlaskClient, page: str, rounds: int) -> tuple[list[float], int]:
    """Ask for a page again and again; return the server's times, sorted, and most statements.

    The first look is not counted: after a while without one it waits for what is counted anew.
    """
    times, statements = [], 0
    client.get(page)
    for _ in range(rounds):
        answer = client.get(page)
        assert answer.status_code == 200, (page, answer.text)
        timing = answer.headers["Server-Timing"]
        times.append(float(re.search(r"dur=([\d.]+)", timing)[1]))  # type: ignore[index]
        statements = max(statements, int(re.search(r'"(\d+)"', timing)[1]))  # type: ignore[index]
    return sorted(times), statements


def _an_error(jobs: int) -> int:
    return (jobs // 2) // 19 * 19 + 1


def _fill(db: Database, jobs: int) -> None:
    began = time.monotonic()
    db.run_statement(RUN)
    for start in range(0, jobs, 100_000):
        db.run_statement(FILL, {"jobs": jobs, "start": start, "end": start + 100_000})
    db.run_statement(ATTEMPTS, {"host": this_host().name})
    db.run_statement(GROUPS)
    db.run_statement(BATCH)
    db.run_statement("ANALYZE TABLE work_queue, job_attempts")
    rollups = Rollups.of(db, "bench")
    while rollups.beat():
        pass
    print(f"filled in {time.monotonic() - began:.0f} s", file=sys.stderr)


def _leave_evidence(db: Database, errors_dir: Path, error: int) -> None:
    """Write what is shown of failures: of one job, and of three jobs of each group."""
    shown = {error}
    for row in db.run_statement("SELECT fingerprint, failures FROM failure_groups"):
        middle = int(row["failures"]) // 2
        found = db.fetch_all("samples_of_group", fingerprint=row["fingerprint"], middle=middle)
        shown.update(sample["id"] for sample in found)
    for job in shown:
        leave_evidence(errors_dir / str(job) / "1", "", job)


def main() -> int:
    """Measure on a private server; return the exit code."""
    parser = harness.parser("bench.dashboard", __doc__, seconds=90)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=40)
    options = harness.read(parser)
    with private_bench() as bench:
        return harness.tell(measure(bench, options), options)


if __name__ == "__main__":
    sys.exit(main())
