"""Add a whole file again when the server has undone it for another transaction's sake.

Two that add the same dedupe keys in another order, or on two members of a cluster, get in each
other's way. A file can be read again; what came by a pipe cannot.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from worker.errors import RowsLocked, Undone

TRIES = 8
MAX_PAUSE_SECONDS = 1.0

T = TypeVar("T")


def until_added(add: Callable[[], T], *, can_repeat: bool) -> T:
    """Add everything in one transaction, again from its beginning after a conflict.

    Raises Undone, in one line, when that does not help or the source can be read only once.
    """
    for number in range(1, TRIES + 1):
        try:
            return add()
        except (Undone, RowsLocked) as error:
            if can_repeat and number < TRIES:
                time.sleep(random.uniform(0.05, MAX_PAUSE_SECONDS * number / TRIES))
                continue
            why = "" if can_repeat else "; standard input cannot be read a second time"
            raise Undone(f"nothing was added{why}: run it again ({error})") from error
    raise AssertionError("the last try returns or raises")
