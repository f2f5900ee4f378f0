"""The table of faults: whom each one hits, what it does, and how it is undone.

A fault is a function that runs in a thread of its own, from the strike to the undoing. It raises
NoTarget when there is nothing to hit now; the drill then strikes with another one.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass

from worker.database.client import Database
from worker.drill import targets
from worker.drill.pool import ELSEWHERE_SECONDS, LEASE_SECONDS, STOP_SECONDS
from worker.drill.scratch import USER
from worker.drill.strike import NoTarget, Strike, required
from worker.errors import DatabaseUnavailable
from worker.system.process_tree import (
    ProcessId,
    descendants,
    identify,
    is_alive,
    kill,
    kill_group,
)

# The launcher has to end what stands still by itself; after this long it has failed to.
STOPPED_SECONDS = 25.0


@dataclass(frozen=True, slots=True)
class Fault:
    """A row of the table; faults of one `exclusive` group do not strike at the same time."""

    kind: str
    weight: int
    act: Callable[[Strike], None]
    exclusive: str | None = None


def kill_worker(strike: Strike) -> None:
    worker = strike.worker()
    strike.begin(worker)
    kill(worker)


def kill_driver(strike: Strike) -> None:
    worker = strike.worker()
    driver = required(targets.driver(worker))
    strike.begin(worker)
    kill(driver)


def kill_browser(strike: Strike) -> None:
    worker = strike.worker()
    browser = required(targets.browser(worker))
    strike.begin(worker)
    kill_group(browser)


def kill_heart(strike: Strike) -> None:
    heart = strike.heart()
    strike.begin(heart)
    kill(heart)


def kill_launcher(strike: Strike) -> None:
    launcher = strike.launcher()
    strike.begin()
    _signal(launcher, signal.SIGKILL)


def stop_worker(strike: Strike) -> None:
    """Stop a worker, some for a while, most until the launcher has killed it."""
    worker = strike.worker()
    strike.begin(worker)
    _signal(worker.pid, signal.SIGSTOP)
    strike.last_while_alive(worker, strike.rng.choice((3.0, STOPPED_SECONDS, STOPPED_SECONDS)))
    _wake(worker)


def stop_driver(strike: Strike) -> None:
    worker = strike.worker()
    driver = required(targets.driver(worker))
    strike.begin(worker)
    _signal(driver.pid, signal.SIGSTOP)
    strike.last(2, 10)
    _wake(driver)


def stop_heart(strike: Strike) -> None:
    heart = strike.heart()
    strike.begin(heart)
    _signal(heart.pid, signal.SIGSTOP)
    strike.last_while_alive(heart, strike.rng.choice((2.0, 4.0, STOPPED_SECONDS)))
    _wake(heart)


def stop_launcher(strike: Strike) -> None:
    launcher = strike.launcher()
    strike.begin()
    _signal(launcher, signal.SIGSTOP)
    strike.last(2, 6)
    if strike.pool.pid == launcher:
        _signal(launcher, signal.SIGCONT)


def freeze_pool(strike: Strike) -> None:
    """Freeze the whole pool for longer than its leases, as a paused host is, and thaw it.

    Another host takes its jobs meanwhile. The workers come back in the middle of theirs, and end
    them before their launcher knows what time it is: only the fence keeps their outcomes out.
    """
    launcher = required(identify(strike.launcher()))
    frozen = [launcher, *(stat.id for stat in descendants(launcher.pid))]
    strike.begin()
    for process in frozen:
        _signal(process.pid, signal.SIGSTOP)
    strike.last(LEASE_SECONDS + 1, LEASE_SECONDS + 2)
    elsewhere = strike.pool.start_elsewhere()
    try:
        strike.last(2, 4)
        for process in reversed(frozen[1:]):
            _wake(process)
        strike.last(0.2, 0.4)
        _wake(launcher)
    finally:
        _end(elsewhere)


def restart_database(strike: Strike) -> None:
    strike.begin()
    strike.scratch.server.restart()


def kill_database(strike: Strike) -> None:
    strike.begin()
    strike.scratch.server.kill()
    strike.scratch.server.start()


def take_database_away(strike: Strike) -> None:
    strike.begin()
    strike.scratch.server.stop()
    strike.last(3, 10)
    strike.scratch.server.start()


def go_half_open(strike: Strike) -> None:
    strike.begin()
    strike.scratch.proxy.go_half_open(strike.rng.choice((0.3, 1.0)), strike.rng)
    strike.last(1, 5)
    strike.scratch.proxy.take_new()


def hold_bytes(strike: Strike) -> None:
    strike.begin()
    strike.scratch.proxy.hold()
    strike.last(1, 6)
    strike.scratch.proxy.let_go()


def reset_connections(strike: Strike) -> None:
    strike.begin()
    strike.scratch.proxy.reset()


def refuse_connections(strike: Strike) -> None:
    strike.begin()
    strike.scratch.proxy.refuse()
    strike.last(1, 5)
    strike.scratch.proxy.accept()


def kill_connection(strike: Strike) -> None:
    """Have the server end one of the pool's connections, in whatever statement it is."""
    try:
        with closing(Database(strike.scratch.database, read_timeout_seconds=2.0)) as db:
            found = [int(row["id"]) for row in db.fetch_all("drill_connections", user=USER)]
            if not found:
                raise NoTarget
            strike.begin()
            with suppress(Exception):
                # It may have ended by itself in the meantime.
                db.run_statement(f"KILL {strike.rng.choice(found)}")
    except DatabaseUnavailable:
        raise NoTarget from None


FAULTS = (
    Fault("worker killed", 26, kill_worker),
    Fault("driver killed", 18, kill_driver),
    Fault("browser killed", 18, kill_browser),
    Fault("heart killed", 14, kill_heart),
    Fault("launcher killed", 14, kill_launcher),
    Fault("worker stopped", 12, stop_worker),
    Fault("driver stopped", 10, stop_driver),
    Fault("heart stopped", 6, stop_heart),
    Fault("launcher stopped", 8, stop_launcher),
    Fault("pool frozen", 4, freeze_pool, "pool"),
    Fault("database restarted", 8, restart_database, "database"),
    Fault("database killed", 8, kill_database, "database"),
    Fault("database away", 6, take_database_away, "database"),
    Fault("network half-open", 8, go_half_open, "network"),
    Fault("network stalled", 8, hold_bytes, "network"),
    Fault("connections reset", 12, reset_connections, "network"),
    Fault("connections refused", 8, refuse_connections, "network"),
    Fault("connection killed in the server", 12, kill_connection),
)


def deck(count: int, rng: random.Random) -> list[Fault]:
    """Choose `count` faults in a random order, each kind by its weight."""
    dealt: list[Fault] = []
    while len(dealt) < count:
        cards = [fault for fault in FAULTS for _ in range(fault.weight)]
        rng.shuffle(cards)
        dealt += cards
    return dealt[:count]


def _end(launcher: subprocess.Popen[bytes]) -> None:
    """Let another host's pool come to its end, which is near."""
    try:
        launcher.wait(ELSEWHERE_SECONDS + STOP_SECONDS)
    except subprocess.TimeoutExpired:
        launcher.kill()
        launcher.wait()


def _wake(process: ProcessId) -> None:
    if is_alive(process):
        _signal(process.pid, signal.SIGCONT)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
