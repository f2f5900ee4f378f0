"""How long a child has been stopped: SIGSTOP looks like life to everything but the kernel."""

from __future__ import annotations

import time

from worker.system.process_tree import read_stat

STOPPED = "T"


class StoppedClock:
    """Measures, look by look, for how long one process has stood still."""

    def __init__(self) -> None:
        self._pid = 0
        self._since = 0.0

    def seconds(self, pid: int) -> float:
        """Tell since when the process has been found stopped at every look; 0 while it runs."""
        stat = read_stat(pid) if pid else None
        now = time.monotonic()
        if stat is None or stat.state != STOPPED:
            self._pid = 0
        elif self._pid != pid:
            self._pid, self._since = pid, now
        return now - self._since if self._pid else 0.0
