"""What ids that grow by 3 or 7, as in a cluster, cost a pool: its makespan against steps of 1.

With steps of 3 only two of six slots have a partition of their own; the others live by helping.
Exit code 1 if the makespan with steps of 3 or 7 is more than 1.1 of the balanced one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing

from bench import launched
from bench.server import Bench, private_bench
from worker.database.client import Database

JOBS, SECONDS, WORKERS = 1200, 0.05, 6
# As with three members of Galera, and in a group; with six every job is of the same slot.
STEPS = (1, 3, 7, 6)
LIMITED = (3, 7)
ROUNDS = 3
LIMIT = 1.1


def main() -> int:
    """Measure each step several times by turns; print the medians."""
    with private_bench() as bench:
        print(f"{bench.version}: {JOBS} jobs of {SECONDS} s, {WORKERS} workers, {ROUNDS} rounds")
        took: dict[int, list[float]] = {step: [] for step in STEPS}
        for _ in range(ROUNDS):
            for step in STEPS:
                took[step].append(makespan(bench, step))
    medians = {step: sorted(seconds)[ROUNDS // 2] for step, seconds in took.items()}
    for step, seconds in medians.items():
        ratio = seconds / medians[1]
        print(f"  ids grow by {step}: {seconds:6.2f} s, {ratio:.3f} of balanced")
    return int(any(medians[step] > LIMIT * medians[1] for step in LIMITED))


def makespan(bench: Bench, step: int) -> float:
    """Drain a queue whose ids grow by a step; return the time from first start to last end."""
    with closing(Database(bench.database)) as db:
        db.run_statement("TRUNCATE TABLE work_queue")
        db.run_statement(f"SET SESSION auto_increment_increment = {step}")
        payload = json.dumps({"seconds": SECONDS})
        for _ in range(JOBS):
            db.run_statement(
                "INSERT INTO work_queue (task, payload) VALUES ('nap', %(payload)s)",
                {"payload": payload},
            )
        subprocess.run(
            launched.command(bench, WORKERS, "bench.id_steps_task", "--quiet"),
            env=launched.environment(bench),
            check=True,
            timeout=120,
        )
        row = db.run_statement(
            "SELECT TIMESTAMPDIFF(MICROSECOND, MIN(started_at), MAX(finished_at)) / 1000000 "
            "AS took, SUM(status = 'done') AS done FROM work_queue"
        )[0]
    assert int(row["done"]) == JOBS
    return float(row["took"])


if __name__ == "__main__":
    sys.exit(main())
