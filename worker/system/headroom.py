"""What this machine has to spare: processor time, memory and /dev/shm, within limits of cgroups.

Read from /proc and /sys, in less than a millisecond. What cannot be read is not limited.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from worker.system.process_tree import PROC

CGROUPS = Path("/sys/fs/cgroup")
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108
# A group's limit that is larger than this is none.
NO_LIMIT_BYTES = 1 << 60
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Spare:
    """What is free: a share of the processors since the last look, and memory now."""

    cpu: float
    memory_mb: float
    # Of the memory that there is at all.
    memory_share: float
    shm_mb: float


@dataclass(frozen=True, slots=True)
class Quota:
    """How much processor time a group may use, in cores, and how much it has used."""

    cores: float
    used_seconds: float


@dataclass(slots=True)
class Headroom:
    """Looks at the machine again and again; the folders are others in tests."""

    proc: Path = PROC
    cgroups: Path = CGROUPS
    shm: Path = SHARED_MEMORY
    _looked_at: float = field(default_factory=time.monotonic)
    _idle: float = 0.0
    _all: float = 0.0
    _used: dict[Path, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._free_cpu()

    def look(self) -> Spare:
        """Tell what is free; of the processors, on the average since the last look."""
        free, whole = self._memory()
        return Spare(self._free_cpu(), free / _MIB, free / whole, self._shm_mb())

    def cores(self) -> int:
        """Count the processors that this process may use, by its affinity and its quota."""
        ours = len(os.sched_getaffinity(0))
        quota = min((quota.cores for _, quota in self._quotas()), default=math.inf)
        return max(1, min(ours, math.ceil(quota) if math.isfinite(quota) else ours))

    def _free_cpu(self) -> float:
        """Take the machine's processors, and each group's quota; the scarcest counts."""
        now = time.monotonic()
        took, self._looked_at = now - self._looked_at, now
        idle, whole = self._ticks()
        passed = whole - self._all
        free = (idle - self._idle) / passed if passed > 0 else 0.0
        self._idle, self._all = idle, whole
        for folder, quota in self._quotas():
            used = quota.used_seconds - self._used.get(folder, quota.used_seconds)
            self._used[folder] = quota.used_seconds
            if took > 0:
                free = min(free, 1 - used / (quota.cores * took))
        return min(max(free, 0.0), 1.0)

    def _ticks(self) -> tuple[float, float]:
        """Read the idle ticks of the processors that are ours, and all of theirs."""
        ours = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        idle = whole = 0.0
        for line in _text(self.proc / "stat").splitlines():
            words = line.split()
            if words and words[0] in ours:
                # User, nice, system, idle, waiting for the disk, interrupts, stolen; then guests.
                counts = list(map(int, words[1:9]))
                idle += counts[3] + counts[4]
                whole += sum(counts)
        return idle, whole

    def _memory(self) -> tuple[float, float]:
        """Read the bytes that may still be taken, and those that there are."""
        machine = dict(_fields(_text(self.proc / "meminfo").replace(":", "")))
        free = 1024 * machine.get("MemAvailable", math.inf)
        whole = 1024 * machine.get("MemTotal", math.inf)
        for folder in self._folders("memory"):
            limit = _number(folder / "memory.max", folder / "memory.limit_in_bytes")
            used = _number(folder / "memory.current", folder / "memory.usage_in_bytes")
            if limit is None or used is None or limit >= NO_LIMIT_BYTES:
                continue
            # Files that nobody uses now are dropped before anything is refused.
            cache = dict(_fields(_text(folder / "memory.stat")))
            kept = cache.get("total_inactive_file", cache.get("inactive_file", 0.0))
            free, whole = min(free, max(limit - used + kept, 0.0)), min(whole, limit)
        return (free, whole) if math.isfinite(whole) and whole > 0 else (1e15, 1e15)

    def _shm_mb(self) -> float:
        try:
            found = os.statvfs(self.shm)
        except OSError:
            return math.inf
        return found.f_bavail * found.f_frsize / _MIB

    def _quotas(self) -> Iterator[tuple[Path, Quota]]:
        for folder in self._folders("cpu"):
            words = _text(folder / "cpu.max").split()
            if len(words) == 2 and words[0] != "max":
                used = dict(_fields(_text(folder / "cpu.stat"))).get("usage_usec", 0.0) / 1e6
                yield folder, Quota(int(words[0]) / int(words[1]), used)
                continue
            limit = _number(folder / "cpu.cfs_quota_us")
            period = _number(folder / "cpu.cfs_period_us")
            if limit and period and limit > 0:
                beside = self.cgroups / "cpuacct" / folder.relative_to(self.cgroups / "cpu")
                spent = _number(folder / "cpuacct.usage", beside / "cpuacct.usage")
                yield folder, Quota(limit / period, (spent or 0.0) / 1e9)

    def _folders(self, controller: str) -> Iterator[Path]:
        """Go from our group up to the first one; within a container only that may be seen."""
        for line in _text(self.proc / "self" / "cgroup").splitlines():
            _, controllers, place = line.split(":", 2)
            if controllers and controller not in controllers.split(","):
                continue
            top = self.cgroups / controller if controllers else self.cgroups
            parts = [part for part in place.split("/") if part not in ("", "..")]
            for length in range(len(parts), -1, -1):
                folder = top.joinpath(*parts[:length])
                if folder.is_dir():
                    yield folder


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _number(*paths: Path) -> float | None:
    """Read the first of these files that holds a number; `max` is no limit."""
    for path in paths:
        text = _text(path).strip()
        if text == "max":
            return math.inf
        if text.lstrip("-").isdigit():
            return int(text)
    return None


def _fields(text: str) -> Iterator[tuple[str, float]]:
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[1].isdigit():
            yield words[0], int(words[1])
