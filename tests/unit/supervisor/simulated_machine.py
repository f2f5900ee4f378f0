"""A machine and a site that exist in numbers alone, and a pool on them that asks a head count."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from worker.supervisor.head_count import HeadCount, Reading

STEP_SECONDS = 0.5


@dataclass
class Machine:
    """Pages need processor time and waiting; `site` is how many a second the site gives."""

    cores: int = 2
    cpu: float = 0.2
    wait: float = 0.0
    site: float = float("inf")
    room_for: int = 1000
    # Browsers that start use a core each.
    boot_seconds: float = 1.5
    # What others take of the cores.
    others: float = 0.0
    jitter: float = 0.1
    dice: random.Random = field(default_factory=lambda: random.Random(17))

    def rate(self, workers: int) -> float:
        """Pages a second with so many workers that have their browsers."""
        alone = self.cpu / max(1 - self.others / self.cores, 0.05) + self.wait
        bound = (self.cores - self.others) / self.cpu
        # Processes that wait for a core get in each other's way a little.
        crowd = max(workers * self.cpu / alone - self.cores, 0.0)
        return min(workers / alone, bound / (1 + 0.01 * crowd), self.site)

    def best(self, most: int) -> float:
        """Pages a second with the best fixed number of workers."""
        return max(self.rate(workers) for workers in range(1, most + 1))


class Pool:
    """Workers on such a machine, each of whose changes is written down."""

    def __init__(self, machine: Machine, *, most: int = 32, jobs: float = 1e9) -> None:
        self.machine, self.head_count = machine, HeadCount(machine.cores, most)
        self.seconds, self.done, self.left = 0.0, 0.0, jobs
        self.short_of = ""
        self.changes: list[tuple[float, int, str]] = []
        self._booted = 0
        self._booting_until = machine.boot_seconds

    def run(self, seconds: float = 1e9) -> None:
        """Let time pass until then, or until the jobs are done."""
        end = self.seconds + seconds
        while self.seconds < end and self.left > 0:
            self._step()

    def _step(self) -> None:
        machine, number = self.machine, self.head_count.number
        if self.seconds >= self._booting_until or number < self._booted:
            self._booted = number
        booting = number - self._booted
        rate = machine.rate(self._booted) if self._booted else 0.0
        if booting:
            # A browser that starts takes its share of the cores from the others.
            rate *= self._booted / (self._booted + booting) if self._booted else 0.0
        noise = 1 + machine.jitter * machine.dice.uniform(-1, 1)
        pages = min(rate * STEP_SECONDS * noise, self.left)
        self.done, self.left = self.done + pages, self.left - pages
        used = rate * machine.cpu + min(booting, machine.cores) + machine.others
        self.seconds += STEP_SECONDS
        reading = Reading(
            at=self.seconds,
            ended=int(self.done),
            ready=int(min(self.left, 1e6)),
            is_settled=self._booted == number,
            cpu_free=max(0.0, 1 - used / machine.cores),
            room=machine.room_for - number,
            short_of=self.short_of,
        )
        if why := self.head_count.look(reading):
            self.changes.append((self.seconds, self.head_count.number, why))
            self._booting_until = self.seconds + machine.boot_seconds
