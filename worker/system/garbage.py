"""Python's search for reference cycles, by how a worker lives: built once, then job after job.

Nearly all that a job leaves is freed by its reference counts. Cycles that are left wait somewhat
longer for their end, which is a few megabytes.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Objects made and not freed since the last search; Python's own number is 700. A page makes about
# 2,000 that live until it is left, and each of them was looked at several times in vain.
YOUNG_OBJECTS = 10_000


@contextmanager
def unsearched() -> Iterator[None]:
    """Search for none within the block: for imports, which leave next to none."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def share_with_children() -> None:
    """Keep what is there out of every search, here and in each child that is forked from now on.

    To search through it takes a child 50 ms, and a copy of every page of memory that it is on.
    """
    gc.freeze()


def collect_seldom() -> None:
    """Search seldom, and never through what is there now: it stays as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
