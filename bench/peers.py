"""`python -m bench.peers`: no-op jobs by Nightshift and by what a user would pick instead.

Six processes each, in an environment of the peers' own (`deploy/setup-peers.sh`), on servers that
are started for it. What cannot be installed is a row that is not met.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import harness, peer_servers
from bench.course import OURS, Course
from bench.harness import Found, Plot, Row, at_least
from bench.jobs import SLOTS
from bench.server import Bench, private_bench
from bench.turns import Figures, take_turns
from worker.database.client import Database
from worker.settings import PROJECT_ROOT
from worker.system.process_tree import identify, kill_tree

FOLDER = PROJECT_ROOT / "bench" / "peers"
PROGRAMS = PROJECT_ROOT / ".local" / "peers" / "bin"
SETUP = PROJECT_ROOT / "deploy" / "setup-peers.sh"
SETUP_SECONDS = 600.0
READ_SECONDS = 120.0
WATCH_SECONDS = 150.0
TINY_JOBS = 60
WHAT = f"no-op jobs, {SLOTS} processes"
WANTED = at_least(3.0)

_NOTHING_KEPT = "Redis keeps nothing on disk"
_ALL_KEPT = "Redis with appendfsync always"


@dataclass(frozen=True, slots=True)
class Peer:
    """Who does the jobs: its module in bench/peers, its workers, and what its server promises."""

    name: str
    side: str
    promise: str
    # About two seconds' work on two cores.
    jobs: int
    command: tuple[str, ...]
    launches: int = 1
    is_durable: bool = False

    @property
    def against(self) -> str:
        return f"{self.name} ({self.promise})"


_CELERY = (
    *("celery", "-A", "celery_side", "worker", "--concurrency", str(SLOTS), "-l", "ERROR"),
    *("--without-gossip", "--without-mingle", "--without-heartbeat"),
)
_DRAMATIQ = ("dramatiq", "dramatiq_side", "-p", str(SLOTS), "-t", "1")
_HUEY = ("huey_consumer", "huey_side.huey", "-k", "process", "-w", str(SLOTS), "-q")
_RQ = ("rq", "worker-pool", "bench", "-n", str(SLOTS), "-q", "-u", "unix://{BENCH_REDIS}")
_PROCRASTINATE = ("procrastinate", "--app", "procrastinate_side.app", "worker", "-c", "1")

PEERS = (
    Peer("Celery, late ack, results", "celery_side", _NOTHING_KEPT, 1_600, _CELERY),
    Peer("RQ", "rq_side", _NOTHING_KEPT, 200, _RQ),
    Peer("Dramatiq, results", "dramatiq_side", _NOTHING_KEPT, 3_400, _DRAMATIQ),
    Peer("Huey, results", "huey_side", _NOTHING_KEPT, 4_000, _HUEY),
    Peer(
        "Procrastinate", "procrastinate_side", "PostgreSQL, durable", 900, _PROCRASTINATE,
        launches=SLOTS,
    ),
    # The same promise as ours: what is done is on disk.
    Peer("Celery, durable", "celery_side", _ALL_KEPT, 1_200, _CELERY, is_durable=True),
    Peer("Dramatiq, durable", "dramatiq_side", _ALL_KEPT, 1_700, _DRAMATIQ, is_durable=True),
    Peer("Huey, durable", "huey_side", _ALL_KEPT, 2_000, _HUEY, is_durable=True),
)  # fmt: skip


def have_environment() -> str | None:
    """Install what the peers need, once; return in one line why that cannot be, else None."""
    try:
        done = subprocess.run(
            [SETUP], capture_output=True, text=True, check=False, timeout=SETUP_SECONDS,
            env={**os.environ, "PYTHON": sys.executable},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"deploy/setup-peers.sh takes longer than {SETUP_SECONDS:.0f} s"
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or ["deploy/setup-peers.sh failed"])[-1]


def rate(peer: Peer, jobs: int) -> float:
    """Fill a peer's queue on a server of its own and have it emptied; return jobs per second."""
    with ExitStack() as stack:
        if "postgresql" in peer.promise.lower():
            address = stack.enter_context(peer_servers.postgresql())
        else:
            address = stack.enter_context(peer_servers.redis(is_durable=peer.is_durable))
        variables = {**os.environ, **address, "PYTHONPATH": str(FOLDER)}
        watching: list[Path | str] = [
            PROGRAMS / "python",
            FOLDER / "watch.py",
            peer.side,
            str(jobs),
        ]
        watch = stack.enter_context(running(watching, variables))
        assert watch.stdout is not None
        if watch.stdout.readline() != "filled\n":
            raise RuntimeError(f"{peer.name}: its queue cannot be filled; see above")
        for _ in range(peer.launches):
            program, *words = (word.format(**address) for word in peer.command)
            stack.enter_context(running([PROGRAMS / program, *words], variables, is_quiet=True))
        found, _ = watch.communicate(timeout=WATCH_SECONDS)
        if watch.returncode:
            raise RuntimeError(f"{peer.name}: its workers do not do their jobs; see above")
        return float(found)


@contextmanager
def running(
    command: Sequence[Path | str],
    variables: dict[str, str],
    *,
    stdin: int = subprocess.DEVNULL,
    is_quiet: bool = False,
) -> Iterator[subprocess.Popen[str]]:
    """Run a program of the peers' environment; afterwards it is gone, with all its children."""
    process = subprocess.Popen(
        command, env=variables, cwd=FOLDER, text=True, stdin=stdin,
        stdout=subprocess.DEVNULL if is_quiet else subprocess.PIPE,
        stderr=subprocess.DEVNULL if is_quiet else None,
    )  # fmt: skip
    started = identify(process.pid)
    try:
        yield process
    finally:
        if started is not None:
            kill_tree(started)
        process.kill()
        process.wait()


def measure(bench: Bench, options: argparse.Namespace) -> Found:
    """Let all peers take turns with Nightshift; who does not work is left out, and says so."""
    found = Found()
    if problem := have_environment():
        found.rows = [harness.missing(WHAT, peer.against, None, problem) for peer in PEERS]
        found.rows.append(harness.missing(WHAT, "the best of them", WANTED, problem))
        return found
    sides: dict[str, Callable[[], float]] = {}
    with closing(Database(bench.database, read_timeout_seconds=READ_SECONDS)) as db:
        sides |= Course(bench, db, SLOTS).sides([OURS], tiny=options.tiny)
        for peer in PEERS:
            sides[peer.against] = partial(rate, peer, TINY_JOBS if options.tiny else peer.jobs)
        figures = take_turns(sides, seconds=options.seconds, least=min(options.least, 2))
    found.rows = _rows(figures)
    found.facts |= peer_servers.versions()
    bars = [(name.partition(" (")[0], statistics.median(rates)) for name, rates in figures.items()]
    found.plots["peers"] = Plot("No-op jobs, same processes", "", "jobs/s", {"": bars})
    return found


def _rows(figures: Figures) -> list[Row]:
    """Compare with each, and with the best: that is what is wanted."""
    rows = [
        figures.row(WHAT, peer.against, OURS, peer.against, None, unit="jobs/s") for peer in PEERS
    ]
    best = max(rows, key=lambda row: row.theirs or 0.0)
    against = f"the best of them: {best.against}"
    return [*rows, figures.row(WHAT, against, OURS, best.against, WANTED, unit="jobs/s")]


def main() -> int:
    """Measure beside a private server; return the exit code."""
    options = harness.read(harness.parser("bench.peers", __doc__, seconds=180))
    with private_bench() as bench:
        found = measure(bench, options)
        found.facts["server"] = bench.version
        return harness.tell(found, options)


if __name__ == "__main__":
    sys.exit(main())
