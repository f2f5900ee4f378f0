"""Faults of the machine and its surroundings: a paused host, a clone, no processes, no terminal."""

from __future__ import annotations

import signal
import subprocess
import time
import uuid
from contextlib import closing, suppress

from worker.database.client import Database, Row
from worker.drill.pool import ELSEWHERE_SECONDS, LEASE_SECONDS, STOP_SECONDS
from worker.drill.process_faults import send, wake
from worker.drill.process_limit import no_new_processes
from worker.drill.strike import NoTarget, Strike, required
from worker.errors import DatabaseUnavailable
from worker.exit_codes import ExitCode
from worker.system.process_tree import ProcessId, descendants, identify, is_alive, kill

# A launcher that stops because its terminal was closed has ended after its grace, and a bit.
HANG_UP_SECONDS = 20.0
# The same for one that was told to stop, with all the time that its heart has to end in.
END_SECONDS = 40.0
UNDO_SECONDS = 60.0


def freeze_pool(strike: Strike) -> None:
    """Freeze the whole pool for longer than its leases, as a paused host is, and thaw it.

    Another host takes its jobs meanwhile. The workers come back in the middle of theirs, and end
    them before their launcher knows what time it is: only the fence keeps their outcomes out.
    """
    launcher = required(identify(strike.launcher()))
    frozen = [launcher, *(stat.id for stat in descendants(launcher.pid))]
    strike.begin()
    for process in frozen:
        send(process.pid, signal.SIGSTOP)
    strike.last(LEASE_SECONDS + 1, LEASE_SECONDS + 2)
    elsewhere = strike.pool.start_elsewhere()
    try:
        strike.last(2, 4)
        for process in reversed(frozen[1:]):
            wake(process)
        strike.last(0.2, 0.4)
        wake(launcher)
    finally:
        _end(elsewhere)


def fail_forks(strike: Strike) -> None:
    """Kill a worker while its launcher can start no process."""
    launcher, worker = strike.launcher(), strike.worker()
    with no_new_processes(launcher):
        strike.begin(worker)
        kill(worker)
        strike.last(2, 8)


def close_terminal(strike: Strike) -> None:
    """Close the terminal of a launcher, which has to go on or to end in order."""
    launcher = required(identify(strike.launcher()))
    if not strike.pool.has_terminal:
        raise NoTarget
    strike.begin()
    strike.pool.close_terminal()
    deadline = time.monotonic() + HANG_UP_SECONDS
    while (code := strike.pool.exit_code(launcher.pid)) is None and time.monotonic() < deadline:
        if strike.is_over.wait(0.05):
            return
    if code is None or code < 0:
        # It goes on without a display, or another fault has killed it.
        return
    if code != ExitCode.OK or not all(run["ended_at"] for run in _runs_of(strike, launcher)):
        strike.complain(f"the launcher ended with exit code {code}, or did not record its end")


def stop_without_database(strike: Strike) -> None:
    """Tell the launcher to stop while the database is away: it has to end all the same."""
    launcher = required(identify(strike.launcher()))
    strike.begin()
    strike.scratch.server.stop()
    try:
        strike.last(0.5, 3)
        send(launcher.pid, signal.SIGTERM)
        deadline = time.monotonic() + END_SECONDS
        while (code := strike.pool.exit_code(launcher.pid)) is None:
            if strike.is_over.wait(0.05):
                return
            if time.monotonic() > deadline:
                strike.complain(f"the launcher had not ended {END_SECONDS:g} s after SIGTERM")
                return
        if code not in (ExitCode.OK, ExitCode.UNAVAILABLE) and code >= 0:
            strike.complain(f"the launcher ended with exit code {code}")
    finally:
        strike.scratch.server.start()


def clone_machine(strike: Strike) -> None:
    """Let the live run look like one of a clone: the same machine id, but another boot.

    A sweep must leave it alone as long as its heart beats.
    """
    launcher = required(identify(strike.launcher()))
    runs = _runs_of(strike, launcher)
    if not runs:
        raise NoTarget
    run = runs[0]
    with closing(Database(strike.scratch.database, patience_seconds=UNDO_SECONDS)) as db:
        strike.begin()
        db.execute("set_boot_of_run", run_id=run["id"], boot_id=str(uuid.uuid4()))
        try:
            until = time.monotonic() + strike.rng.uniform(3, 6)
            while time.monotonic() < until and not strike.is_over.is_set():
                with suppress(subprocess.TimeoutExpired):
                    strike.pool.sweep()
            taken = db.fetch_all("sweeps_of_run", ending=f"%(run {run['id']}) are gone")
            if taken and is_alive(launcher):
                jobs = ", ".join(str(row["job_id"]) for row in taken)
                strike.complain(f"jobs {jobs} were swept from a live run with another boot id")
        finally:
            db.execute("set_boot_of_run", run_id=run["id"], boot_id=run["boot_id"])


def _runs_of(strike: Strike, launcher: ProcessId) -> list[Row]:
    """Read the run of a launcher; nothing when the database is away or does not know it yet."""
    try:
        with closing(Database(strike.scratch.database, read_timeout_seconds=5.0)) as db:
            return db.fetch_all("drill_run_of", pid=launcher.pid, pid_started=launcher.start_time)
    except DatabaseUnavailable:
        return []


def _end(launcher: subprocess.Popen[bytes]) -> None:
    """Let another host's pool come to its end, which is near."""
    try:
        launcher.wait(ELSEWHERE_SECONDS + STOP_SECONDS)
    except subprocess.TimeoutExpired:
        launcher.kill()
        launcher.wait()
