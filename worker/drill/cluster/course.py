"""The course of a cluster's drill: three launchers, as on three hosts, while its members fail."""

from __future__ import annotations

import random
from contextlib import ExitStack, closing

from worker.drill.attack import Attack
from worker.drill.cluster import faults as cluster_faults
from worker.drill.cluster.world import ClusterWorld
from worker.drill.course import Say, watch
from worker.drill.pool import Pool
from worker.drill.report import Report
from worker.drill.targets import Register

HOSTS = ("alpha", "beta", "gamma")
# Long enough that the jobs last as long as the faults: each needs a while to be got over.
QUICK_SECONDS = (0.1, 0.9)
MORE_JOBS = 400


def run_cluster_drill(
    world: ClusterWorld, *, jobs: int, faults: int, workers: int, seed: int, say: Say
) -> Report:
    """Drain the jobs by three launchers while faults strike the cluster; return the report."""
    rng = random.Random(seed)
    world.enqueue(jobs, rng, QUICK_SECONDS)
    share = max(1, workers // len(HOSTS))
    total = share * len(HOSTS)
    with ExitStack() as stack:
        pools = [
            stack.enter_context(closing(_pool(world, host, share, share * index, total)))
            for index, host in enumerate(HOSTS)
        ]
        register = stack.enter_context(closing(Register(world.database)))
        attack = stack.enter_context(
            closing(
                Attack(
                    world,
                    pools[0],
                    register,
                    jobs=jobs,
                    faults=faults,
                    rng=rng,
                    table=cluster_faults.table(world),
                )
            )
        )
        return watch(
            world,
            pools,
            attack,
            jobs=jobs,
            workers=total,
            seed=seed,
            say=say,
            top_up=lambda: _top_up(world, rng),
        )


def _top_up(world: ClusterWorld, rng: random.Random) -> int:
    """Add jobs while no fault is going on, for the faults that are left."""
    world.enqueue(MORE_JOBS, rng, QUICK_SECONDS)
    return MORE_JOBS


def _pool(world: ClusterWorld, host: str, workers: int, offset: int, total: int) -> Pool:
    flags = (f"--offset={offset}", f"--total={total}")
    return Pool(world, workers, host=host, flags=flags)
