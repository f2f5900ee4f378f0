"""Real launchers as hosts before one server, workers without browsers, and what they cost it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench import launched
from bench.idle import cpu_seconds
from bench.numbers import have_numbers
from bench.server import Bench
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.errors import RowsLocked, Undone
from worker.system.process_tree import descendants

PER_HOST = 50
START_SECONDS = 600.0
END_SECONDS = 120.0
ADDED_AT_ONCE = DELETED_AT_ONCE = 2_000
# Beside the workers: the launcher's children, what measures, and whoever comes at the wrong moment.
SPARE_CONNECTIONS = 100

_STATUS = ("Questions", "Threads_connected", "Max_used_connections")


@dataclass(frozen=True, slots=True)
class Use:
    """What a while cost: shares of a core, statements and finished jobs per second."""

    server: float
    pool: float
    statements: float
    jobs: float

    @property
    def server_ms(self) -> float:
        """Processor time of the server for a job, in milliseconds."""
        return 1000 * self.server / self.jobs if self.jobs else 0.0

    @property
    def pool_ms(self) -> float:
        """Processor time of launchers and workers for a job, in milliseconds."""
        return 1000 * self.pool / self.jobs if self.jobs else 0.0


class Fleet:
    """Hosts at work on one server."""

    def __init__(self, bench: Bench, db: Database, launchers: list[subprocess.Popen[bytes]]):
        self._bench = bench
        self._db = db
        self._launchers = launchers
        self._server = server_pid(bench)

    def watch(self, seconds: float) -> Use:
        """Look at what server and pool do for a while."""
        pool = [one.pid for one in self._launchers]
        pool += [stat.pid for pid in list(pool) for stat in descendants(pid)]
        before, began = self._count("done"), time.monotonic()
        asked, used = self._status()["Questions"], _cpu([self._server, *pool])
        start = time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - start
        # What a child has used that has ended meanwhile is left out.
        more = {pid: now - used.get(pid, now) for pid, now in _cpu(used).items()}
        server = more.pop(self._server)
        own = sum(more.values())
        asked = self._status()["Questions"] - asked
        done = self._count("done") - before
        return Use(server / took, own / took, asked / took, done / (time.monotonic() - began))

    def connections(self) -> int:
        """Count the pool's connections; the one that asks is none of them."""
        return self._status()["Threads_connected"] - 1

    def most_connections(self) -> int:
        """Tell how many there were at once at the most, since the last time it was asked."""
        most = self._status()["Max_used_connections"] - 1
        self._db.run_statement("FLUSH STATUS")
        return most

    def server_mb(self) -> float:
        """Tell how much memory the server holds."""
        return memory_mb(self._server)

    def fill(self, jobs: int, task: str, payload: str) -> None:
        """Add so many jobs, in small transactions: workers that look wade through open ones."""
        have_numbers(self._db, ADDED_AT_ONCE)
        for start in range(0, jobs, ADDED_AT_ONCE):
            self._db.run_statement(
                "INSERT INTO work_queue (task, payload) SELECT %(task)s, %(payload)s "
                f"FROM bench_numbers WHERE n < {min(ADDED_AT_ONCE, jobs - start)}",
                {"task": task, "payload": payload},
            )

    def wait_until(self, least: int, status: str) -> None:
        """Wait until so many jobs are in a state: idle workers look for new ones now and then."""
        deadline = time.monotonic() + START_SECONDS
        while self._count(status) < least:
            if time.monotonic() > deadline:
                raise RuntimeError(f"fewer than {least} jobs are {status} after a long while")
            time.sleep(0.2)

    def empty(self) -> None:
        """Take away what nobody has claimed, and wait for what somebody has."""
        deadline = time.monotonic() + END_SECONDS
        while self._has("pending"):
            # Those who claim meanwhile are in the way.
            with suppress(Undone, RowsLocked):
                self._db.run_statement(
                    f"DELETE FROM work_queue WHERE status = 'pending' LIMIT {DELETED_AT_ONCE}"
                )
        while self._has("in_progress"):
            if time.monotonic() > deadline:
                raise RuntimeError("jobs are in progress for too long")
            time.sleep(0.2)
        while self._has("done"):
            self._db.run_statement(f"DELETE FROM work_queue LIMIT {DELETED_AT_ONCE}")

    def _has(self, status: str) -> bool:
        return bool(
            self._db.run_statement(
                "SELECT 1 FROM work_queue WHERE status = %(status)s LIMIT 1", {"status": status}
            )
        )

    def _count(self, status: str) -> int:
        row = self._db.run_statement(
            "SELECT COUNT(*) AS jobs FROM work_queue WHERE status = %(status)s", {"status": status}
        )[0]
        return int(row["jobs"])

    def _status(self) -> dict[str, int]:
        rows = self._db.run_statement(
            "SHOW GLOBAL STATUS WHERE Variable_name IN %(names)s", {"names": _STATUS}
        )
        return {row["Variable_name"]: int(row["Value"]) for row in rows}


def _cpu(pids: Iterable[int]) -> dict[int, float]:
    """Read the processor time of each process that is there."""
    used = {}
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):
            used[pid] = cpu_seconds([pid])
    return used


@contextmanager
def fleet(bench: Bench, db: Database, workers: int, tell: Callable[[str], None]) -> Iterator[Fleet]:
    """Have so many workers wait for jobs, up to 50 on each host, with connections of their own."""
    last = db.run_statement("SELECT COALESCE(MAX(id), 0) AS id FROM workers")[0]["id"]
    with ExitStack() as stack:
        launchers: list[subprocess.Popen[bytes]] = []
        for offset in range(0, workers, PER_HOST):
            size = min(PER_HOST, workers - offset)
            launchers.append(_launch(stack, bench, size, offset, workers))
        # All at once, and before each is waited for.
        stack.callback(lambda: [one.terminate() for one in launchers])
        deadline = time.monotonic() + START_SECONDS
        while (there := _count_workers(db, last)) < workers:
            if time.monotonic() > deadline or any(one.poll() is not None for one in launchers):
                raise RuntimeError(f"only {there} of {workers} workers have started")
            time.sleep(0.5)
        tell(f"{workers} workers on {len(launchers)} hosts have started")
        yield Fleet(bench, db, launchers)


def _launch(
    stack: ExitStack, bench: Bench, size: int, offset: int, total: int
) -> subprocess.Popen[bytes]:
    name = f"host-{offset // PER_HOST + 1}"
    flags = ["--tasks", "bench.id_steps_task", "--follow"]
    flags += ["--offset", str(offset), "--total", str(total)]
    out = stack.enter_context((bench.folder / f"{name}.log").open("wb"))
    launcher = subprocess.Popen(
        launched.command(bench, size, "bench.noop", *flags),
        env=launched.environment(
            bench,
            NIGHTSHIFT_HOST=name,
            NIGHTSHIFT_STATE_DIR=str(bench.folder / name),
        ),
        stdout=out,
        stderr=out,
    )
    stack.callback(launched.stop, launcher)
    return launcher


def _count_workers(db: Database, after: int) -> int:
    row = db.run_statement(
        "SELECT COUNT(*) AS there FROM workers WHERE id > %(after)s AND ended_at IS NULL",
        {"after": after},
    )[0]
    return int(row["there"])


def server_pid(bench: Bench) -> int:
    """Find the process of a bench's server."""
    pid = PrivateServer(bench.folder / "mysql").pid()
    assert pid is not None
    return pid


def memory_mb(pid: int) -> float:
    """Read how much memory a process holds."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    (line,) = (line for line in text.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024
