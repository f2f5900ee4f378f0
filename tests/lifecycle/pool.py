"""Who is who in a running pool: which process holds a job, and what belongs to it."""

from __future__ import annotations

from worker.database.client import Database
from worker.drill import finish_ledger
from worker.system.process_tree import ProcessId, descendants, find_driver, is_alive


def worker_of(database: Database, job_id: int) -> ProcessId:
    """Find the process that holds a job now."""
    (row,) = database.run_statement(
        "SELECT workers.pid, workers.pid_started FROM workers JOIN work_queue "
        "ON work_queue.incarnation = workers.id WHERE work_queue.id = %(id)s "
        "AND status = 'in_progress'",
        {"id": job_id},
    )
    worker = ProcessId(row["pid"], row["pid_started"])
    assert is_alive(worker)
    return worker


def workers(database: Database) -> list[ProcessId]:
    """List the workers that have started and not ended, as the database knows them."""
    rows = database.run_statement(
        "SELECT pid, pid_started FROM workers WHERE ended_at IS NULL ORDER BY slot"
    )
    return [ProcessId(row["pid"], row["pid_started"]) for row in rows]


def incarnations(database: Database) -> int:
    """Count the workers that have ever been."""
    return int(database.run_statement("SELECT COUNT(*) AS n FROM workers")[0]["n"])


def heart_of(launcher: int, database: Database) -> ProcessId:
    """Find the one child of a launcher that is no worker."""
    children = [stat.id for stat in descendants(launcher) if stat.parent == launcher]
    (heart,) = [child for child in children if child not in workers(database)]
    return heart


def driver_of(worker: ProcessId) -> ProcessId:
    """Find a worker's Playwright driver."""
    driver = find_driver(worker.pid)
    assert driver is not None
    return driver


def browser_of(worker: ProcessId) -> ProcessId:
    """Find a worker's Chromium: the one descendant that leads a group of its own."""
    (browser,) = [stat.id for stat in descendants(worker.pid) if stat.leads_group]
    return browser


def assert_done_once(database, job_ids: list[int]) -> None:
    """Ask the ledger that the server itself has kept since the test had it installed."""
    assert finish_ledger.finishes(database) == dict.fromkeys(job_ids, 1)
