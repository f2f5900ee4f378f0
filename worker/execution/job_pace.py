"""Estimate how long jobs take, and whether another one fits into the run's remaining time."""

from __future__ import annotations

import time
from dataclasses import dataclass

from worker.system.board import Header


@dataclass(slots=True)
class Pace:
    """One worker's idea of a job's length."""

    header: Header
    typical_seconds: float = 0.0

    def learn(self, seconds: float) -> None:
        """Take another job's length into account.

        Long jobs weigh at once, short ones slowly: better to leave a job than to break it off.
        """
        share = 0.5 if seconds > self.typical_seconds else 0.1
        if not self.typical_seconds:
            share = 1.0
        self.typical_seconds += share * (seconds - self.typical_seconds)

    @property
    def is_time_up(self) -> bool:
        """Whether a job started now would likely not be finished when the run's time is over."""
        until = self.header.claim_until
        return bool(until) and time.monotonic() + self.typical_seconds > until
