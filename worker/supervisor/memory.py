"""How much memory each worker holds with driver and browser, read from /proc in one pass."""

from __future__ import annotations

from collections.abc import Iterable

from worker.system import process_tree
from worker.system.board import Entry
from worker.system.process_tree import ProcessStat


def memory_mb(entries: Iterable[Entry]) -> list[float | None]:
    """Tell the MiB of each worker; None for one that has no browser of ours now."""
    drivers = [(entry.driver_pid, entry.driver_started) for entry in entries]
    if not any(pid for pid, _ in drivers):
        return [None for _ in drivers]
    processes = {stat.pid: stat for stat in process_tree.all_processes() if not stat.is_dead}
    children: dict[int, list[int]] = {}
    for stat in processes.values():
        children.setdefault(stat.parent, []).append(stat.pid)
    return [_of(processes.get(pid), started, children) for pid, started in drivers]


def _of(driver: ProcessStat | None, started: int, children: dict[int, list[int]]) -> float | None:
    if driver is None or driver.start_time != started:
        return None
    # The worker itself is its driver's parent.
    family = [driver.parent, driver.pid]
    waiting = [driver.pid]
    while waiting:
        found = children.get(waiting.pop(), [])
        family += found
        waiting += found
    return process_tree.memory_mb(family)
