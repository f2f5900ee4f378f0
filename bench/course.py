"""Rounds of no-op jobs on one server, by Nightshift or by one of the ways it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from bench import plain_workers
from bench.numbers import have_numbers
from bench.pool import Pool
from bench.race import Work, race
from bench.server import Bench
from worker.database.client import Database

OURS, LIMIT, TEXTBOOK, SKIP_LOCKED = "Nightshift", "one UPDATE", "textbook", "SKIP LOCKED"

ROUND_SECONDS = 2.0
# Each side first does so many a slot, to find out how many take a round.
WARM_UP, TINY, MOST = 50, 10, 20_000


class Course:
    """The slots at work, and a backlog of slot 0's that lies before their jobs."""

    def __init__(
        self,
        bench: Bench,
        db: Database,
        total: int,
        *,
        slots: range | None = None,
        backlog: int = 0,
    ) -> None:
        self._bench = bench
        self._db = db
        self._total = total
        self._slots = range(total) if slots is None else slots
        self._backlog = backlog
        self._per_slot: dict[str, int] = {}

    def sides(self, names: Iterable[str], *, tiny: bool) -> dict[str, Callable[[], float]]:
        """Find out how many jobs of each side take a round, and give the rounds by their names."""
        for name in names:
            self._per_slot[name] = TINY if tiny else WARM_UP
            if not tiny:
                per_slot = int(self.run(name) * ROUND_SECONDS / len(self._slots))
                self._per_slot[name] = min(max(per_slot, TINY), MOST)
        return {name: partial(self.run, name) for name in self._per_slot}

    def jobs_of(self, name: str) -> int:
        """Say how many jobs a round of a side has."""
        return self._per_slot[name] * len(self._slots)

    def run(self, name: str) -> float:
        """Run one round of a side; return jobs per second."""
        self.lay_out(name)
        seconds = self.race(name)
        jobs, done = self.jobs_of(name), self._count_done(_table_of(name))
        if done != jobs:
            raise RuntimeError(f"{name}: {done} jobs are done, not {jobs}")
        return done / seconds

    def lay_out(self, name: str) -> None:
        """Fill the queue with the jobs of a round of a side."""
        self._lay_out(_table_of(name), self._per_slot[name])

    def race(self, name: str) -> float:
        """Have a side do all of them; return the seconds."""
        jobs = self._per_slot[name]
        if name == OURS:
            pool = Pool(self._bench, self._total)
            with pool.beating():
                return race([partial(pool.worker, slot, jobs) for slot in self._slots])
        return race([self._plain(name, slot, jobs) for slot in self._slots])

    def _plain(self, name: str, slot: int, jobs: int) -> Callable[[], Work]:
        database = self._bench.database
        if name == TEXTBOOK:
            return partial(plain_workers.textbook, database, slot, self._total, jobs)
        if name == SKIP_LOCKED:
            return partial(plain_workers.skip_locked, database, slot, jobs)
        first = self._first + slot
        return partial(
            plain_workers.one_update,
            database,
            range(first, first + self._total * jobs, self._total),
        )

    @property
    def _first(self) -> int:
        """The first id after the backlog, of slot 0; no job has the id 0."""
        return self._total * (self._backlog + 1)

    def _lay_out(self, table: str, jobs: int) -> None:
        have_numbers(self._db, max(self._total * jobs, self._backlog))
        if table == "plain_queue":
            self._db.run_statement("DROP TABLE IF EXISTS plain_queue")
            self._db.run_statement(plain_workers.PLAIN_TABLE)
        else:
            self._db.run_statement("TRUNCATE work_queue")
            self._db.run_statement("TRUNCATE job_attempts")
        self._insert(table, f"{self._total} * (n + 1)", f"n < {self._backlog}")
        slots = ", ".join(str(slot) for slot in self._slots)
        mine = f"n < {self._total * jobs} AND n % {self._total} IN ({slots})"
        self._insert(table, f"{self._first} + n", mine)

    def _insert(self, table: str, job_id: str, where: str) -> None:
        task, noop = (", task", ", 'noop'") if table == "work_queue" else ("", "")
        self._db.run_statement(
            f"INSERT INTO {table} (id, payload{task}) "
            f"""SELECT {job_id}, CONCAT('{{"url": "https://example.com/', n, '"}}'){noop} """
            f"FROM bench_numbers WHERE {where} ORDER BY n"
        )

    def _count_done(self, table: str) -> int:
        count = f"SELECT COUNT(*) AS jobs FROM {table} WHERE status = 'done'"
        return int(self._db.run_statement(count)[0]["jobs"])


def _table_of(name: str) -> str:
    return "plain_queue" if name in (TEXTBOOK, SKIP_LOCKED) else "work_queue"
