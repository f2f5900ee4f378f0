"""A task that takes a while without using the machine, and ten times as long in one worker."""

from __future__ import annotations

import fcntl
import os
import time
from typing import IO, Any

from worker import Job, task

SLOWER_VARIABLE, FILE_VARIABLE = "BENCH_SLOWER", "BENCH_SLOW_FILE"

# Whoever has the lock on the file, for as long as the process lives, is the slow one.
_tried: list[IO[str] | None] = []


@task("nap", browser=False)
def nap(page: Any, payload: dict[str, Any], job: Job) -> None:
    """Sleep as long as the job says, or longer."""
    slower = float(os.environ[SLOWER_VARIABLE])
    time.sleep(payload["seconds"] * (slower if slower > 1 and _is_slow() else 1))


def _is_slow() -> bool:
    if not _tried:
        file = open(os.environ[FILE_VARIABLE], "a", encoding="ascii")  # noqa: PTH123, SIM115
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            _tried.append(None)
        else:
            file.write(str(os.getpid()))
            file.flush()
            _tried.append(file)
    return _tried[0] is not None
