"""Find out from the kernel's counters whether its out-of-memory killer ended a process."""

from __future__ import annotations

from pathlib import Path

COUNTERS = (Path("/proc/vmstat"), Path("/sys/fs/cgroup/memory.events"))


def oom_kills(counters: tuple[Path, ...] = COUNTERS) -> int:
    """Count the processes that the kernel has killed for want of memory, so far."""
    found = 0
    for path in counters:
        try:
            lines = path.read_text(encoding="ascii", errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, value = line.partition(" ")
            if name == "oom_kill" and value.strip().isdigit():
                found += int(value)
    return found
