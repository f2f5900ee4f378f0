"""Prometheus metrics, read from the database when somebody scrapes: no process keeps any.

`scrape` is for the dashboard and the command alike. Every statement is bounded and goes by an
index; every label has a bounded number of values, and none holds a number of a job, a URL or a
secret.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime

from worker import __version__
from worker.database.client import Database
from worker.errors import DatabaseUnavailable
from worker.models import DEFAULT_QUEUE, Outcome, Status
from worker.queue import pause
from worker.queue_names import as_compared
from worker.recovery import live_runs
from worker.recovery.live_runs import Life, RunState
from worker.reporting import outlook
from worker.reporting.exposition import OTHER, Family, counter, gauge, render
from worker.reporting.histogram import Histogram
from worker.reporting.lifetime import Lifetime, lifetime
from worker.reporting.standing import worth_telling

# What a number of jobs is counted up to.
MOST_JOBS = 1_000_000
MOST_PRIORITIES = 20
# A job that came back may stand before older ones.
FIRST_OF_A_PRIORITY = 10
LOWEST_PRIORITY = -(2**31) - 1
RECENT_SECONDS = 3600
RECENT_ATTEMPTS = 10_000
# Runs that are looked through for the last good one and for restarts.
RECENT_RUNS = 100
MOST_PROVIDERS = 20
# Some of the bounds that histograms are kept by: each is a series of every task.
BOUNDS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200)
# The index counts jobs, but their rows are read to tell queues apart: of so many from each end.
QUEUES_OF_JOBS = 250
MOST_QUEUES = 20


def scrape(connect: Callable[[], Database]) -> tuple[str, bool]:
    """Write all metrics; tell whether the database answered. If not, they say that alone."""
    families, is_up = look(connect)
    return render(families), is_up


def look(connect: Callable[[], Database]) -> tuple[list[Family], bool]:
    """Read all metrics; tell whether the database answered."""
    began = time.monotonic()
    try:
        with closing(connect()) as db:
            families = list(collect(db))
        is_up = True
    except DatabaseUnavailable:
        families, is_up = [], False
    up = gauge("nightshift_up", "Whether the database answered this scrape.", int(is_up))
    took = gauge(
        "nightshift_scrape_seconds", "How long this scrape took.", time.monotonic() - began
    )
    return [up, _build(), *families, took], is_up


def collect(db: Database) -> Iterator[Family]:
    """Read every family of metrics."""
    runs = live_runs.newest(db, RECENT_RUNS)
    ever = lifetime(db)
    yield _jobs(db)
    yield from _oldest(db)
    yield from _ended(ever)
    yield _durations(ever)
    yield from _pool(db)
    yield from _last_runs(runs)
    yield _restarts(db, runs)
    yield _failures(db)
    yield from _webhooks(db)


def _build() -> Family:
    family = gauge("nightshift_build_info", "The version of Nightshift that was asked; always 1.")
    family.add(1, {"version": __version__})
    return family


def _jobs(db: Database) -> Family:
    family = gauge(
        "nightshift_jobs",
        f"Jobs by status, counted up to {MOST_JOBS:,}, and by queue; of more than "
        f"{2 * QUEUES_OF_JOBS:,} the queues' shares are those of the first and the last.",
    )
    counted = {status: _by_queue(db, status) for status in Status}
    all_jobs = sum(counted.values(), Counter())
    named = {queue for queue, _ in all_jobs.most_common(MOST_QUEUES)}
    for status, queues in counted.items():
        told = Counter({DEFAULT_QUEUE: 0})
        for queue, jobs in queues.items():
            told[queue if queue in named else OTHER] += jobs
        for queue, jobs in sorted(told.items()):
            family.add(jobs, {"status": status.value, "queue": queue})
    return family


def _by_queue(db: Database, status: Status) -> Counter[str]:
    """Count the jobs of a status by queue; of many, only those at both ends are looked at."""
    row = db.fetch_all("jobs_of_status", status=status.value, limit=MOST_JOBS)[0]
    jobs = int(row["jobs"])
    is_whole = jobs <= 2 * QUEUES_OF_JOBS
    limit = jobs if is_whole else QUEUES_OF_JOBS
    seen: Counter[str] = Counter()
    names = ("queues_of_first_jobs", "queues_of_last_jobs")
    for name in names[: 1 if is_whole else 2] if jobs else ():
        for found in db.fetch_all(name, status=status.value, limit=limit):
            seen[as_compared(found["queue"])] += int(found["jobs"])
    return seen if is_whole else _shared_out(jobs, seen)


def _shared_out(jobs: int, seen: Counter[str]) -> Counter[str]:
    """Give each queue its share of the jobs; the largest gets what rounding leaves."""
    if not (looked_at := seen.total()):
        return Counter({DEFAULT_QUEUE: jobs})
    shares = Counter({queue: jobs * count // looked_at for queue, count in seen.items()})
    shares[seen.most_common(1)[0][0]] += jobs - shares.total()
    return shares


def _oldest(db: Database) -> Iterator[Family]:
    ready = gauge(
        "nightshift_oldest_ready_timestamp_seconds",
        "Since when the job has been ready that waits longest, held back or not.",
    )
    if (since := min(_ready_since(db), default=None)) is not None:
        ready.add(_seconds(since))
    running = gauge(
        "nightshift_oldest_running_timestamp_seconds",
        "When the job was started that is at work for the longest time.",
    )
    started = db.fetch_all("oldest_running_job", limit=RECENT_ATTEMPTS)[0]["started_at"]
    if started is not None:
        running.add(_seconds(started))
    yield from (ready, running)


def _ready_since(db: Database) -> Iterator[datetime]:
    """Look at the first ready jobs of each priority, one look into the index for each."""
    priority = LOWEST_PRIORITY
    for _ in range(MOST_PRIORITIES):
        rows = db.fetch_all("first_ready_jobs", behind=priority, limit=FIRST_OF_A_PRIORITY)
        if not rows:
            return
        priority = rows[0]["priority"]
        yield from (row["ready_at"] for row in rows if row["priority"] == priority)


def _ended(ever: Lifetime) -> Iterator[Family]:
    attempts = counter("nightshift_attempts_total", "Attempts that ended, by how they ended.")
    jobs = counter("nightshift_jobs_finished_total", "Jobs that were done or failed for good.")
    failed: Counter[str] = Counter()
    for (task, outcome), tally in ever.items():
        attempts.add(tally.attempts, {"task": task, "outcome": outcome.value})
        failed[task] += tally.failed
        if outcome is Outcome.DONE:
            jobs.add(tally.attempts, {"task": task, "outcome": "done"})
    for task, number in failed.items():
        jobs.add(number, {"task": task, "outcome": "error"})
    reclaimed = counter(
        "nightshift_leases_reclaimed_total", "Jobs that were taken back from vanished workers."
    )
    reclaimed.add(sum(t.attempts for (_, outcome), t in ever.items() if outcome is Outcome.SWEPT))
    yield from (attempts, jobs, reclaimed)


def _durations(ever: Lifetime) -> Family:
    family = Family(
        "nightshift_job_duration_seconds", "histogram", "How long attempts took that did their job."
    )
    for (task, outcome), tally in ever.items():
        if outcome is Outcome.DONE:
            told, total = tally.durations, tally.run_seconds
            family.add_histogram(_below(told), told.total, total, {"task": task})
    return family


def _below(histogram: Histogram) -> list[tuple[float, int]]:
    return [(bound, count) for bound, count in histogram.cumulative() if bound in BOUNDS]


def _pool(db: Database) -> Iterator[Family]:
    runs = worth_telling(live_runs.unended(db))
    lives = Counter(run.life for run in runs)
    family = gauge("nightshift_runs", "Runs that have recorded no end, by whether they live.")
    for life in (Life.ALIVE, Life.SILENT, Life.GONE):
        family.add(lives[life], {"life": life.value})
    yield family
    alive = [run for run in runs if run.life is Life.ALIVE]
    slots = gauge("nightshift_slots", "Workers of the runs at work, by what they do.")
    doing = Counter(
        "starting" if worker["phase"] == "none" else worker["phase"]
        for run in alive
        for worker in run.pulse.get("workers", [])
    )
    for phase in sorted(doing):
        slots.add(doing[phase], {"state": phase})
    yield slots
    rest = outlook.outlook(db, alive)
    if rest.held_back is not None:
        yield gauge("nightshift_jobs_held_back", "Ready jobs held back.", rest.held_back)
    yield gauge(
        "nightshift_paused", "Whether the pool is paused.", int(pause.paused(db) is not None)
    )


def _last_runs(runs: list[RunState]) -> Iterator[Family]:
    ended = [run for run in runs if run.ended_at is not None]
    good = [run for run in ended if (run.summary or {}).get("exit_code") == 0]
    for name, found, what in (
        ("end", ended, "a run ended"),
        ("success", good, "a run ended with exit code 0"),
    ):
        family = gauge(f"nightshift_run_last_{name}_timestamp_seconds", f"When {what} last.")
        if found:
            family.add(max(_seconds(run.ended_at) for run in found if run.ended_at))
        yield family


def _restarts(db: Database, runs: list[RunState]) -> Family:
    """Tell of the latest run of each place: with the next one there, its counter begins anew."""
    family = counter(
        "nightshift_worker_restarts_total", "Workers started anew in the latest run of a host."
    )
    latest: dict[tuple[str, int], RunState] = {}
    for run in runs:
        latest.setdefault((run.host, run.first_slot), run)
    if not latest:
        return family
    rows = db.fetch_all("restarts_of_runs", run_ids=tuple(r.run_id for r in latest.values()))
    restarts = {row["run_id"]: int(row["restarts"]) for row in rows}
    for (host, first_slot), run in sorted(latest.items()):
        labels = {"host": host, "first_slot": str(first_slot)}
        family.add(restarts.get(run.run_id, 0), labels)
    return family


def _failures(db: Database) -> Family:
    """Tell which part was at fault lately: `cause="profile"` is a profile that did not start."""
    family = gauge(
        "nightshift_recent_failures",
        f"Attempts that failed within an hour, of the last {RECENT_ATTEMPTS:,}, by who was at "
        "fault and the provider of their profile.",
    )
    rows = db.fetch_all("recent_failures", seconds=RECENT_SECONDS, limit=RECENT_ATTEMPTS)
    named = _first(row["provider"] for row in rows)
    told: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        provider = row["provider"] if row["provider"] in named else OTHER
        told[row["outcome"], row["cause"], provider] += int(row["attempts"])
    for (outcome, cause, provider), number in sorted(told.items()):
        family.add(number, {"outcome": outcome, "cause": cause, "provider": provider})
    return family


def _first(names: Iterable[str]) -> set[str]:
    return set(sorted(set(names))[:MOST_PROVIDERS])


def _webhooks(db: Database) -> Iterator[Family]:
    row = db.fetch_all("webhooks_of_state", limit=MOST_JOBS)[0]
    yield gauge("nightshift_webhooks_due", "Webhooks that should be sent now.", row["due"])
    yield gauge("nightshift_webhooks_given_up", "Webhooks given up.", row["given_up"])


def _seconds(moment: datetime) -> float:
    return moment.replace(tzinfo=UTC).timestamp()
