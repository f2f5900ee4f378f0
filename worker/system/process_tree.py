"""Read and end processes by what /proc says of them, without any library.

A process is named by its pid and its start time, so that a pid which the kernel has
given to somebody else meanwhile is never killed. Vanished processes are no error.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
DEAD_STATES = frozenset("ZXx")
# A line of /proc/PID/stat: 52 numbers and a name of 16 characters, 64 in kernel threads.
LONGEST_STAT = 4096


@dataclass(frozen=True, slots=True)
class ProcessId:
    """One process for good: its pid, and its start in clock ticks since the machine's boot."""

    pid: int
    start_time: int


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """The part of /proc/PID/stat that tells who a process is and whose child."""

    pid: int
    name: str
    state: str
    parent: int
    group: int
    session: int
    start_time: int

    @property
    def id(self) -> ProcessId:
        return ProcessId(self.pid, self.start_time)

    @property
    def is_dead(self) -> bool:
        """Whether nothing of it runs any more: a zombie only waits to be reaped."""
        return self.state in DEAD_STATES

    @property
    def leads_group(self) -> bool:
        return self.pid == self.group


def read_stat(pid: int) -> ProcessStat | None:
    """Read a process, or None if there is none of that pid."""
    # Without a file object, of which Path makes two: a machine has hundreds of processes, and each
    # worker looks at all of them every few seconds.
    try:
        file = os.open(f"{PROC}/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return parse_stat(os.read(file, LONGEST_STAT))
    except OSError:
        return None
    finally:
        os.close(file)


def parse_stat(line: bytes) -> ProcessStat | None:
    """Take a line of /proc/PID/stat apart; None when it is cut short by the process's end."""
    # The name stands in parentheses and may hold spaces, newlines and parentheses itself,
    # therefore the last closing parenthesis ends it.
    head, closing, tail = line.rpartition(b")")
    pid, opening, name = head.partition(b"(")
    fields = tail.split()
    if not closing or not opening or len(fields) < 20:
        return None
    return ProcessStat(
        pid=int(pid),
        name=name.decode("utf-8", "replace"),
        state=fields[0].decode("ascii"),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        start_time=int(fields[19]),
    )


def identify(pid: int) -> ProcessId | None:
    """Name the process that has this pid now, or None."""
    stat = read_stat(pid)
    return stat.id if stat else None


def is_alive(process: ProcessId) -> bool:
    """Tell whether this very process still runs (a zombie does not)."""
    stat = read_stat(process.pid)
    return stat is not None and stat.id == process and not stat.is_dead


def all_processes() -> list[ProcessStat]:
    """Read every process there is; those that vanish meanwhile are left out."""
    with os.scandir(PROC) as entries:
        pids = [int(entry.name) for entry in entries if entry.name.isdigit()]
    return [stat for stat in map(read_stat, pids) if stat is not None]


def descendants(pid: int) -> list[ProcessStat]:
    """List the living children of a process, their children and so on, parents first."""
    children: dict[int, list[ProcessStat]] = {}
    for stat in all_processes():
        children.setdefault(stat.parent, []).append(stat)
    found: list[ProcessStat] = []
    seen, waiting = {pid}, [pid]
    while waiting:
        for child in children.get(waiting.pop(0), []):
            if child.pid not in seen:
                seen.add(child.pid)
                waiting.append(child.pid)
                found.append(child)
    return [stat for stat in found if not stat.is_dead]


def find_driver(parent: int, known: Iterable[ProcessId] = ()) -> ProcessId | None:
    """Find the Playwright driver: the newest Node child of `parent` that is not `known`."""
    known = set(known)
    nodes = [
        stat
        for stat in descendants(parent)
        if stat.parent == parent and _is_driver(stat.pid) and stat.id not in known
    ]
    return max(nodes, key=lambda stat: stat.start_time).id if nodes else None


def find_browsers(driver: ProcessId) -> list[ProcessId]:
    """Find the group leaders that the driver has started: Chromium has a group of its own."""
    if not is_alive(driver):
        return []
    return [stat.id for stat in descendants(driver.pid) if stat.leads_group]


def kill(process: ProcessId) -> bool:
    """Kill one process if it is still the same one; tell whether a signal was sent."""
    if not is_alive(process):
        return False
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def kill_group(leader: ProcessId) -> bool:
    """Kill the process group that `leader` leads or led; tell whether a signal was sent.

    A leader may die before its group. Its pid stays taken while the group has members, and
    Chromium's group is a session too: members of that session are therefore the leader's own.
    """
    stat = read_stat(leader.pid)
    if stat is not None and (stat.id != leader or not stat.leads_group):
        return False
    if not group_members(leader):
        return False
    try:
        os.killpg(leader.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def group_members(leader: ProcessId) -> list[ProcessId]:
    """List the living members of the group and session that `leader` leads or led."""
    stat = read_stat(leader.pid)
    session = stat.session if stat is not None and stat.id == leader else leader.pid
    return [
        member.id
        for member in all_processes()
        if (member.group, member.session) == (leader.pid, session)
        and member.start_time >= leader.start_time
        and not member.is_dead
    ]


def kill_tree(root: ProcessId) -> int:
    """Kill a process and all its descendants, the root first; return how many got the signal."""
    if not is_alive(root):
        return 0
    family = [root, *(stat.id for stat in descendants(root.pid))]
    return sum(kill(process) for process in family)


def wait_dead(processes: Iterable[ProcessId], seconds: float) -> bool:
    """Wait until none of the processes runs any more; False when the time ran out first."""
    deadline = time.monotonic() + seconds
    left = list(processes)
    while left := [process for process in left if is_alive(process)]:
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)
    return True


def memory_mb(processes: Iterable[int]) -> float:
    """Add up the memory that the processes hold for themselves alone, in MiB.

    Shared pages are left out: every Chromium process maps the same 200 MB of program, and
    counting them ten times would say nothing about growth.
    """
    pages = 0
    for pid in processes:
        try:
            _, resident, shared, *_ = (PROC / str(pid) / "statm").read_text("ascii").split()
        except (OSError, ValueError):
            continue
        pages += int(resident) - int(shared)
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _is_driver(pid: int) -> bool:
    try:
        command = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"run-driver" in command
