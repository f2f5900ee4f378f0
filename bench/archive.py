"""`python -m bench.archive`: archive 200,000 jobs while a pool claims, and count every job.

The real command is held and let go in turns of seconds, so that whatever else the machine
does falls on both sides. Exit code 1 when claims take over 1.5 times as long or a job is lost.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from bench.archive_audit import audit
from bench.server import Bench, private_bench
from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.gate import Gate
from worker.database.client import Database
from worker.history import archive
from worker.models import Claim, Ending, Outcome, Owner, Partition
from worker.queue import runs
from worker.queue.claims import Queue
from worker.settings import PROJECT_ROOT, RunSettings

LIMIT = 1.5
READ_SECONDS = 300.0
FILL_AT_ONCE = 2000
FINISHED = Ending(Outcome.DONE, result=json.dumps({"ok": True, "title": "x" * 200}))
MIN_CLAIMS = 200
SETTLE_SECONDS = 0.3
HELD_SHARE = 0.5


@dataclass(slots=True)
class Turns:
    """When the archive was at work and when not, on the clock that the workers use too."""

    quiet: list[tuple[float, float]] = field(default_factory=list)
    busy: list[tuple[float, float]] = field(default_factory=list)


def fill(db: Database, finished: int, pending: int) -> None:
    """Put in jobs that finished long ago, one in ten of them failed with a history, and work."""
    payload = json.dumps({"url": "https://example.com/" + "p" * 100})
    old = "UTC_TIMESTAMP(6) - INTERVAL 40 DAY"
    for start in range(1, finished + 1, FILL_AT_ONCE):
        ids = range(start, min(start + FILL_AT_ONCE, finished + 1))
        rows = ", ".join(
            f"({n}, '{payload}', '{'error' if n % 10 == 0 else 'done'}', 1, 1, 1, "
            f"{old} + INTERVAL {n} SECOND, "
            f"{repr('Traceback ' + 'x' * 1500) if n % 10 == 0 else 'NULL'})"
            for n in ids
        )
        db.run_statement(
            "INSERT INTO work_queue (id, payload, status, attempts, fence, worker_id, finished_at, "
            f"last_error) VALUES {rows}"
        )
    db.run_statement(
        "INSERT INTO job_attempts (job_id, fence, attempt, outcome, finished_at, reason) "
        "SELECT id, fence, attempts, 'error', finished_at, 'HTTP 500' FROM work_queue "
        "WHERE status = 'error'"
    )
    for start in range(finished + 1, finished + pending + 1, FILL_AT_ONCE):
        ids = range(start, min(start + FILL_AT_ONCE, finished + pending + 1))
        rows = ", ".join(f"({n}, '{payload}')" for n in ids)
        db.run_statement(f"INSERT INTO work_queue (id, payload) VALUES {rows}")


def work(bench: Bench, slot: int, total: int, run_id: int, think: float, stop: Event) -> None:
    """Claim and finish until told to stop; note when each claim began, its length and its job."""
    begins, lengths, jobs = array("d"), array("d"), array("q")
    with closing(Database(bench.database, patience_seconds=30.0)) as db:
        queue, closed = Queue(db), ClosedKeys(db)
        candidates = Candidates(db, Partition(slot, total), closures=closed)
        gate = Gate(db, queue, closed, canary_seconds=60.0)
        owner = Owner(slot, runs.start_worker(db, run_id, slot))
        while not stop.is_set():
            began = time.monotonic()
            claim = gate.claim(owner, candidates)
            if not isinstance(claim, Claim):
                raise RuntimeError("the pool ran out of jobs: give more with --pending")
            begins.append(began)
            lengths.append(time.monotonic() - began)
            jobs.append(claim.job_id)
            time.sleep(think)
            queue.end(claim, FINISHED)
    with (bench.folder / f"notes-{slot}").open("wb") as file:
        for part in (begins, lengths, jobs):
            part.tofile(file)


def notes(folder: Path, slot: int) -> Iterator[tuple[float, float, int]]:
    """Read what a worker has noted: beginnings, lengths, numbers of jobs."""
    path = folder / f"notes-{slot}"
    count = path.stat().st_size // 24
    parts = (array("d"), array("d"), array("q"))
    with path.open("rb") as file:
        for part in parts:
            part.fromfile(file, count)
    yield from zip(*parts, strict=True)


@contextmanager
def pool(bench: Bench, workers: int, think: float) -> Iterator[None]:
    """Keep workers claiming meanwhile."""
    context = multiprocessing.get_context("fork")
    stop = context.Event()
    with closing(Database(bench.database)) as db:
        settings = RunSettings(database=bench.database, workers=workers, total=workers)
        run_id = runs.start_run(db, settings, os.getpid())
    processes = [
        context.Process(target=work, args=(bench, slot, workers, run_id, think, stop))
        for slot in range(workers)
    ]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        stop.set()
        for process in processes:
            process.join(30)
            process.kill()
    if any(process.exitcode for process in processes):
        raise RuntimeError("a worker of the drill failed; its traceback is above")


def archive_in_turns(bench: Bench, batch: int, seconds: float, deadline: float) -> Turns:
    """Let the real command work for a while, then hold it, until nothing is left."""
    turns = Turns()
    with closing(Database(bench.database)) as db, archiving(bench, batch) as command:
        # Its start is a program's start, not archiving: it counts for neither side.
        while not _archived(db) and command.poll() is None:
            time.sleep(0.01)
        while time.monotonic() < deadline:
            turns.quiet.append(_turn(command, signal.SIGSTOP, seconds * HELD_SHARE))
            turns.busy.append(_turn(command, signal.SIGCONT, seconds))
            print(f"archived {_archived(db):,} jobs", file=sys.stderr, flush=True)
            if (code := command.poll()) is not None:
                # Nobody knows how much of the last turn was work.
                turns.busy.pop()
                if code:
                    raise RuntimeError(f"the archive failed with exit code {code}")
                return turns
    raise RuntimeError("the archive did not come to its end in time")


def _turn(
    command: subprocess.Popen[bytes], number: signal.Signals, seconds: float
) -> tuple[float, float]:
    command.send_signal(number)
    # A batch that the server has been sent is still carried out.
    time.sleep(SETTLE_SECONDS)
    began = time.monotonic()
    time.sleep(seconds)
    return began, time.monotonic()


def _archived(db: Database) -> int:
    return int(db.run_statement("SELECT COUNT(*) AS n FROM archived_jobs")[0]["n"])


@contextmanager
def archiving(bench: Bench, batch: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start the real command; whatever happens, it has ended afterwards."""
    settings = bench.database
    url = f"mysql://{settings.user}@localhost/{settings.database}?socket={settings.unix_socket}"
    command = ["launcher.py", "archive", "--older-than", "30d", "--batch", str(batch), "--quiet"]
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=PROJECT_ROOT,
        env={**os.environ, "DATABASE_URL": url, "NIGHTSHIFT_ENV_FILE": "/dev/null"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def compare(found: list[tuple[float, float, int]], turns: Turns) -> dict[str, Any]:
    """Set the claims made while the archive was at work against the others."""

    def lengths(spans: list[tuple[float, float]]) -> list[float]:
        chosen = [took for began, took, _ in found for a, b in spans if a <= began < b]
        if len(chosen) < MIN_CLAIMS:
            raise RuntimeError(f"only {len(chosen)} claims were measured: too few to compare")
        return chosen

    report: dict[str, Any] = {}
    for name, spans in (("before", turns.quiet), ("during", turns.busy)):
        taken = lengths(spans)
        cuts = statistics.quantiles(taken, n=100)
        seconds = sum(b - a for a, b in spans)
        report[name] = {
            "claims": len(taken),
            "claims_per_second": round(len(taken) / seconds, 1),
            "p50_ms": round(cuts[49] * 1000, 2),
            "p99_ms": round(cuts[98] * 1000, 2),
        }
    for cut in ("p50", "p99"):
        ratio = report["during"][f"{cut}_ms"] / report["before"][f"{cut}_ms"]
        report[f"{cut}_ratio"] = round(ratio, 2)
    return report


def main() -> int:
    """Fill a private server, archive under load, compare and count; return the exit code."""
    parser = argparse.ArgumentParser(prog="bench.archive", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--jobs", type=int, default=200_000, help="finished jobs to archive")
    parser.add_argument("--pending", type=int, default=200_000, help="jobs for the pool")
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--think", type=float, default=0.03, help="seconds a job takes")
    parser.add_argument("--batch", type=int, default=archive.BATCH)
    parser.add_argument("--turn", type=float, default=5.0, help="seconds of a turn")
    parser.add_argument("--deadline", type=float, default=900.0)
    options = parser.parse_args()
    with (
        private_bench() as bench,
        closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db,
    ):
        fill(db, options.jobs, options.pending)
        with pool(bench, options.workers, options.think):
            turns = archive_in_turns(
                bench, options.batch, options.turn, time.monotonic() + options.deadline
            )
        found = [note for n in range(options.workers) for note in notes(bench.folder, n)]
        report = {"server": bench.version, "jobs": options.jobs, **compare(found, turns)}
        report["busy_seconds"] = round(sum(b - a for a, b in turns.busy), 1)
        claimed = [job for _, _, job in found]
        report["wrong"] = audit(db, options.jobs, options.jobs + options.pending, claimed)
    print(json.dumps(report, indent=None if options.json else 2))
    is_met = max(report["p50_ratio"], report["p99_ratio"]) <= LIMIT
    return 0 if is_met and not report["wrong"] else 1


if __name__ == "__main__":
    sys.exit(main())
