"""Processes that start together: timed from a common start to the last finish."""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable, Sequence

START_SECONDS = 60.0

Work = Callable[[], None]


def race(contestants: Sequence[Callable[[], Work]]) -> float:
    """Fork a process for each, let all prepare, start their work at once; return the seconds.

    Raises RuntimeError when one of them fails: a time without its work would mean nothing.
    """
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(len(contestants) + 1)
    finishes = context.RawArray("d", len(contestants))

    def run(index: int) -> None:
        try:
            work = contestants[index]()
        except BaseException:
            barrier.abort()
            raise
        # A fork's first collection copies the parent's whole heap: a worker does that once a night.
        gc.collect()
        barrier.wait(START_SECONDS)
        work()
        finishes[index] = time.monotonic()

    processes = [context.Process(target=run, args=(n,)) for n in range(len(contestants))]
    try:
        for process in processes:
            process.start()
        barrier.wait(START_SECONDS)
        started = time.monotonic()
        for process in processes:
            process.join()
    finally:
        for process in processes:
            process.kill()
            process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError("a process of the measurement failed; its traceback is above")
    return float(max(finishes[:])) - started
