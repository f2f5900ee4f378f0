"""The course of a drill: keep the pool going under fire until the queue is drained, then audit."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from worker.database.client import Database
from worker.drill.attack import Attack
from worker.drill.blame import hits_of
from worker.drill.ledger import Findings, judge, read_database, read_ledger
from worker.drill.pool import Pool, reap_orphans, strangers
from worker.drill.progress import Progress
from worker.drill.recovery import longest_standstill, summarise
from worker.drill.report import Report
from worker.drill.scratch import Scratch
from worker.drill.strike import Strike
from worker.drill.targets import Register
from worker.drill.world import World

TICK_SECONDS = 0.05
REAP_SECONDS = 1.0
TELL_SECONDS = 10.0
STALL_SECONDS = 120.0
# More jobs than end while the longest fault is got over.
FEW_JOBS = 800
# A killed process must be gone within this time; otherwise it counts as left behind.
VANISH_SECONDS = 5.0

Say = Callable[[str], None]


def run_drill(
    scratch: Scratch, *, jobs: int, faults: int, workers: int, seed: int, say: Say
) -> Report:
    """Drain the jobs while faults strike; return the report."""
    rng = random.Random(seed)
    scratch.enqueue(jobs, rng)
    with (
        closing(Pool(scratch, workers)) as pool,
        closing(Register(scratch.database)) as register,
        closing(Attack(scratch, pool, register, jobs=jobs, faults=faults, rng=rng)) as attack,
    ):
        return watch(scratch, [pool], attack, jobs=jobs, workers=workers, seed=seed, say=say)


def watch(
    world: World,
    pools: Sequence[Pool],
    attack: Attack,
    *,
    jobs: int,
    workers: int,
    seed: int,
    say: Say,
    top_up: Callable[[], int] | None = None,
) -> Report:
    """Keep pools going under an attack until the queue is drained; audit it and report.

    `top_up` adds jobs, and says how many, so that there are jobs as long as there are faults.
    """
    began = time.monotonic()
    try:
        jobs, broken_off = _drain_under_fire(world, pools, attack, jobs, say, top_up)
    finally:
        attack.close()
        for pool in pools:
            pool.close()
    seconds = time.monotonic() - began
    executions = read_ledger(world.ledger)
    findings = _audit(world, pools, jobs, attack.strikes)
    return Report(
        server=world.version,
        workers=workers,
        seed=seed,
        seconds=round(seconds, 1),
        launchers=sum(pool.starts for pool in pools),
        findings=findings,
        kinds=summarise(attack.strikes, executions),
        missed=[f"{strike.kind}: {strike.miss}" for strike in attack.missed],
        standstill_seconds=longest_standstill(executions),
        broken_off=broken_off,
    )


def _drain_under_fire(
    world: World,
    pools: Sequence[Pool],
    attack: Attack,
    jobs: int,
    say: Say,
    top_up: Callable[[], int] | None,
) -> tuple[int, str | None]:
    """Wait for the end of the last job and the last fault; say why when it does not come.

    Returns how many jobs there were, too.
    """
    progress = Progress(world.ledger)
    few = min(FEW_JOBS, jobs // 5)
    reap_at = tell_at = 0.0
    while not all(pool.is_drained for pool in pools) or attack.is_going_on:
        for pool in pools:
            pool.keep_going()
        progress.look()
        is_short = jobs - progress.ended < few and attack.has_more
        if top_up is not None and is_short and not attack.is_going_on:
            jobs += top_up()
            attack.expect(jobs)
        attack.strike_if_due(progress.ended)
        now = time.monotonic()
        if now >= reap_at:
            reap_at = now + REAP_SECONDS
            reap_orphans({*(pool.pid for pool in pools), *world.pids()})
        if now >= tell_at:
            tell_at = now + TELL_SECONDS
            done, struck = f"{progress.ended:,} of {jobs:,} jobs", len(attack.strikes)
            say(f"{done}, {struck} of {attack.faults} faults")
        if progress.still_seconds > STALL_SECONDS:
            return jobs, f"no job has ended for {STALL_SECONDS:g} s"
        time.sleep(TICK_SECONDS)
    return jobs, None


def _audit(world: World, pools: Sequence[Pool], jobs: int, strikes: Sequence[Strike]) -> Findings:
    # The last fault may have ended with the server away.
    world.revive()
    with closing(Database(world.database)) as db:
        ends, attempts = read_database(db)
    findings = judge(jobs, ends, attempts, read_ledger(world.ledger), hits_of(strikes))
    findings.leftovers = _leftovers(world, [pool.state_dir for pool in pools])
    findings.broken_promises = [
        *(text for pool in pools for text in pool.broken_down),
        *(text for strike in strikes for text in strike.complaints),
    ]
    return findings


def _leftovers(world: World, state_dirs: Sequence[Path]) -> list[str]:
    """Name every process, temporary file and unwritten outcome that has outlived the pool."""
    known = world.pids()
    deadline = time.monotonic() + VANISH_SECONDS
    while (processes := strangers(known)) and time.monotonic() < deadline:
        reap_orphans(known)
        time.sleep(TICK_SECONDS)
    files = [
        path
        for state_dir in (*state_dirs, world.elsewhere_dir)
        for path in (*(state_dir / "tmp").rglob("*"), *(state_dir / "journal").rglob("*.*"))
    ]
    return [
        *(f"process {each}" for each in processes),
        *(f"file {path.relative_to(world.folder)}" for path in files),
    ]
