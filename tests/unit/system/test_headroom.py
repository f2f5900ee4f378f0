"""What is free on a machine, within whatever limits its cgroups have, in version 1 and 2."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from worker.system import headroom
from worker.system.headroom import Headroom

MEMINFO = "MemTotal:        8192000 kB\nMemFree:  1 kB\nMemAvailable:    4096000 kB\n"
MIB = 1 << 20


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(headroom.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture(autouse=True)
def _two_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


class Kernel:
    """A tree of files such as the kernel shows."""

    def __init__(self, folder: Path) -> None:
        self.proc, self.cgroups = folder / "proc", folder / "cgroup"
        self.write("proc/meminfo", MEMINFO)
        self.ticks((0, 0), (0, 0), (0, 0))

    def write(self, path: str, text: object) -> None:
        file = self.proc.parent / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="ascii")

    def ticks(self, *cpus: tuple[int, int]) -> None:
        """Each processor's ticks: (at work, idle)."""
        lines = [f"cpu{n} {busy} 0 0 {idle} 0 0 0 0 0 0" for n, (busy, idle) in enumerate(cpus)]
        self.write("proc/stat", "cpu 1 2 3\n" + "\n".join(lines) + "\nintr 5 6")

    def headroom(self) -> Headroom:
        return Headroom(self.proc, self.cgroups, self.proc.parent)


@pytest.fixture
def kernel(tmp_path):
    return Kernel(tmp_path)


def test_processors_are_free_as_far_as_they_are_idle_and_only_ours_count(kernel, clock):
    kernel.ticks((100, 100), (100, 100), (0, 0))
    room = kernel.headroom()
    clock[0] += 1
    kernel.ticks((150, 150), (150, 250), (9000, 0))

    assert room.look().cpu == pytest.approx(200 / 300)
    assert room.cores() == 2


def test_between_two_looks_without_a_tick_nothing_is_free(kernel, clock):
    room = kernel.headroom()

    assert room.look().cpu == 0.0


def test_without_groups_the_machine_is_the_limit(kernel):
    spare = kernel.headroom().look()

    assert spare.memory_mb == pytest.approx(4000)
    assert spare.memory_share == pytest.approx(0.5)


def test_the_narrowest_group_on_the_way_up_is_the_limit(kernel, clock):
    kernel.write("proc/self/cgroup", "0::/pods/ours")
    kernel.write("cgroup/memory.max", "max")
    kernel.write("cgroup/pods/memory.max", 1024 * MIB)
    kernel.write("cgroup/pods/memory.current", 800 * MIB)
    kernel.write("cgroup/pods/memory.stat", f"anon {600 * MIB}\ninactive_file {100 * MIB}")
    kernel.write("cgroup/pods/ours/memory.max", 4096 * MIB)
    kernel.write("cgroup/pods/ours/memory.current", 10 * MIB)
    kernel.write("cgroup/pods/ours/cpu.max", "50000 100000")
    kernel.write("cgroup/pods/ours/cpu.stat", "usage_usec 1000000\nuser_usec 5")
    room = kernel.headroom()
    clock[0] += 2
    kernel.ticks((0, 200), (0, 200))
    kernel.write("cgroup/pods/ours/cpu.stat", "usage_usec 1800000\nuser_usec 5")

    spare = room.look()

    assert spare.memory_mb == pytest.approx(324)
    assert spare.memory_share == pytest.approx(324 / 1024)
    # Of half a core, 0.8 of 1.0 seconds are used, though the machine is idle.
    assert spare.cpu == pytest.approx(0.2)
    assert room.cores() == 1


def test_groups_of_version_one_are_limits_too(kernel, clock):
    kernel.write("proc/self/cgroup", "4:memory:/ours\n2:cpuacct:/ours\n1:cpu:/ours\n0::/")
    kernel.write("cgroup/memory/memory.limit_in_bytes", 2**63 - 4096)
    kernel.write("cgroup/memory/memory.usage_in_bytes", 5)
    kernel.write("cgroup/memory/ours/memory.limit_in_bytes", 512 * MIB)
    kernel.write("cgroup/memory/ours/memory.usage_in_bytes", 500 * MIB)
    kernel.write(
        "cgroup/memory/ours/memory.stat", f"inactive_file 0\ntotal_inactive_file {200 * MIB}"
    )
    kernel.write("cgroup/cpu/ours/cpu.cfs_quota_us", 100_000)
    kernel.write("cgroup/cpu/ours/cpu.cfs_period_us", 100_000)
    kernel.write("cgroup/cpu/cpu.cfs_quota_us", -1)
    kernel.write("cgroup/cpu/cpu.cfs_period_us", 100_000)
    kernel.write("cgroup/cpuacct/ours/cpuacct.usage", 0)
    room = kernel.headroom()
    clock[0] += 1
    kernel.ticks((0, 100), (0, 100))
    kernel.write("cgroup/cpuacct/ours/cpuacct.usage", 750_000_000)

    spare = room.look()

    assert (spare.memory_mb, spare.cpu) == (pytest.approx(212), pytest.approx(0.25))
    assert room.cores() == 1


def test_what_cannot_be_read_is_no_limit(tmp_path):
    room = Headroom(tmp_path / "proc", tmp_path / "cgroup", tmp_path / "shm")

    spare = room.look()

    assert spare.memory_mb > 1e6
    assert spare.shm_mb == math.inf
    assert room.cores() == 2


def test_this_machine_can_be_read():
    spare = Headroom().look()

    assert 0 <= spare.cpu <= 1
    assert spare.memory_mb > 0
    assert 0 < spare.memory_share <= 1
