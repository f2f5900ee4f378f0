"""Python's search for reference cycles, by how a worker lives: built once, then job after job.

Nearly all that a job leaves is freed by its reference counts. Cycles that are left wait somewhat
longer for their end, which is a few megabytes.
"""

from __future__ import annotations

import gc

# Objects made and not freed since the last search; Python's own number is 700. A page makes about
# 2,000 that live until it is left, and each of them was looked at several times in vain.
YOUNG_OBJECTS = 10_000


def collect_seldom() -> None:
    """Search seldom, and never through what is there now: it stays as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
