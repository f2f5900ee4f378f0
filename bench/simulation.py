"""A pool before one server, simulated: workers do a job each, then queue for the server's cores.

Pure: the same arguments give the same figures. What a job costs comes from `bench.scaling`; what is
left out (locks, commits that wait for the disk, the network) is what its comparison would show.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass

# The first jobs fill the pool and are not counted. Few workers do more of them each, so that chance
# is under one percent of every figure.
WARM_UP_CYCLES, COUNTED_CYCLES = 2, 4
LEAST_COUNTED = 40_000
SEED = 16


@dataclass(frozen=True, slots=True)
class Load:
    """So many workers, a job's own time, and what a job costs which number of cores."""

    workers: int
    job_seconds: float
    cost_seconds: float
    cores: int

    @property
    def ideal(self) -> float:
        """Jobs per second if nobody ever waited for the server."""
        return self.workers / (self.job_seconds + self.cost_seconds)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Jobs per second, and how long a worker waited for the server, on average and at the worst."""

    rate: float
    wait_seconds: float
    most_seconds: float


def simulate(load: Load, seed: int = SEED) -> Outcome:
    """Let the pool work for a while and count, once it has filled."""
    chance = random.Random(seed)
    # Times of jobs and of the server vary as much as exponential ones do: rather too much.
    asks = [(chance.expovariate(1 / load.job_seconds), n) for n in range(load.workers)]
    heapq.heapify(asks)
    cores = [0.0] * load.cores
    skipped = load.workers * WARM_UP_CYCLES
    counted = max(load.workers * COUNTED_CYCLES, LEAST_COUNTED)
    began, waited, most, now = 0.0, 0.0, 0.0, 0.0
    for number in range(skipped + counted):
        asked, worker = heapq.heappop(asks)
        start = max(asked, heapq.heappop(cores))
        now = start + chance.expovariate(1 / load.cost_seconds)
        heapq.heappush(cores, now)
        heapq.heappush(asks, (now + chance.expovariate(1 / load.job_seconds), worker))
        if number < skipped:
            began = asked
            continue
        waited += start - asked
        most = max(most, start - asked)
    return Outcome(counted / (now - began), waited / counted, most)
