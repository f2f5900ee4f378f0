"""`python -m bench.night`: how long a night's report takes at 1,000,000 jobs and 50,000 errors.

On the rows alone and with roll-ups, as text and as HTML. Slower than the limit is exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing
from datetime import UTC
from pathlib import Path

from bench.rollups import JOBS, READ_SECONDS, fill
from bench.server import private_bench
from worker.database.client import Database
from worker.reporting.night import formats, window
from worker.reporting.night.gather import gather
from worker.reporting.rollups import Rollups

ERRORS = 50_000
LIMIT_SECONDS = 5.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS)
    jobs = parser.parse_args().jobs
    with (
        private_bench() as bench,
        closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db,
    ):
        print(f"{bench.version}: {jobs:,} jobs of one night, {ERRORS:,} of them in error")
        fill(db, jobs)
        db.run_statement(
            "UPDATE work_queue SET status = 'error', fingerprint = LPAD(id % 30, 16, 'f'), "
            f"result = NULL WHERE id % {max(1, jobs // ERRORS)} = 7"
        )
        keeper = Rollups.of(db, "bench")
        while keeper.beat():
            pass
        return 0 if _report(db) else 1


def _report(db: Database) -> bool:
    times = []
    for _ in range(3):
        began = time.monotonic()
        found = window.since(db, "11h", UTC)
        night = gather(db, found, Path("errors"))
        gathered = time.monotonic() - began
        pages = {kind: len(write(night)) for kind, write in formats.WRITERS.items()}
        times.append(time.monotonic() - began)
        print(f"  gathered in {gathered:.2f} s, written in {times[-1] - gathered:.2f} s: {pages}")
    assert night.counts.jobs_in == night.counts.done + night.counts.failed
    return min(times) <= LIMIT_SECONDS


if __name__ == "__main__":
    sys.exit(main())
