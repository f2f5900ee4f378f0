"""The table of faults: how often each one strikes, and what must not strike beside it.

A fault is a function that runs in a thread of its own, from the strike to the undoing. It raises
NoTarget when there is nothing to hit now; the drill then strikes with another one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from worker.drill import machine_faults, network_faults, process_faults, process_limit
from worker.drill import server_faults as server
from worker.drill.strike import Strike


@dataclass(frozen=True, slots=True)
class Fault:
    """A row of the table; two faults that share an `exclusive` group do not strike together."""

    kind: str
    weight: int
    act: Callable[[Strike], None]
    exclusive: tuple[str, ...] = ()
    is_possible: Callable[[], bool] = lambda: True


FAULTS = (
    Fault("worker killed", 26, process_faults.kill_worker),
    Fault("driver killed", 18, process_faults.kill_driver),
    Fault("browser killed", 18, process_faults.kill_browser),
    Fault("heart killed", 14, process_faults.kill_heart),
    Fault("launcher killed", 14, process_faults.kill_launcher),
    Fault("worker stopped", 12, process_faults.stop_worker),
    Fault("driver stopped", 10, process_faults.stop_driver),
    Fault("heart stopped", 6, process_faults.stop_heart),
    Fault("launcher stopped", 8, process_faults.stop_launcher),
    Fault("pool frozen", 4, machine_faults.freeze_pool, ("pool",)),
    Fault("forks failed", 8, machine_faults.fail_forks, ("forks",), process_limit.is_available),
    Fault(
        "terminal closed",
        8,
        machine_faults.close_terminal,
        ("pool", "database", "network", "server"),
    ),
    Fault("machine cloned", 8, machine_faults.clone_machine, ("pool", "database", "server")),
    Fault("database restarted", 8, server.restart_database, ("database",)),
    Fault("database killed", 8, server.kill_database, ("database",)),
    Fault("database away", 6, server.take_database_away, ("database",)),
    Fault("server disk full", 8, server.fill_disk, ("server",)),
    Fault("server offline", 8, server.go_offline, ("server",)),
    Fault("user's connections exhausted", 8, server.exhaust_connections, ("server",)),
    Fault("row locked", 6, server.lock_row, ("server",)),
    Fault("queries killed", 12, server.kill_queries),
    Fault("connection killed in the server", 12, server.kill_connection),
    Fault("network half-open", 8, network_faults.go_half_open, ("network",)),
    Fault("network stalled", 8, network_faults.hold_bytes, ("network",)),
    Fault("connections reset", 12, network_faults.reset_connections, ("network",)),
    Fault("connections refused", 8, network_faults.refuse_connections, ("network",)),
)


def deck(count: int, rng: random.Random, table: Sequence[Fault] = FAULTS) -> list[Fault]:
    """Deal `count` faults in a random order, each kind as often as its weight says."""
    possible = [fault for fault in table if fault.is_possible()]
    dealt: list[Fault] = []
    while len(dealt) < count:
        cards = [fault for fault in possible for _ in range(fault.weight)]
        rng.shuffle(cards)
        dealt += cards
    return dealt[:count]
