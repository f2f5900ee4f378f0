"""Let only one process of this machine at a time talk to a vendor whose program bears no more.

It is a lock on a file: it ends with its process, whatever becomes of that.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOOK_SECONDS = 0.05


@contextmanager
def alone(path: Path, deadline: float) -> Iterator[bool]:
    """Be the only one, or learn that others were busy all the time; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="ascii") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    yield False
                    return
                time.sleep(LOOK_SECONDS)
            else:
                yield True
                return
