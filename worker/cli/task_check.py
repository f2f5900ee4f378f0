"""Whether anybody knows the task that jobs are added for: a typing error would wait for ever."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from worker.database.client import Database
from worker.queue_names import as_compared
from worker.recovery import live_runs

# As many of the latest runs are asked what they had loaded.
ASKED_RUNS = 20


def warning_about(db: Database, task: str, loaded: Iterable[str]) -> str | None:
    """Say that neither a loaded file nor a recent run knows a task, with the nearest name."""
    known = set(loaded)
    for run in live_runs.newest(db, ASKED_RUNS):
        if run.tasks is not None:
            known |= run.tasks
    if as_compared(task) in known:
        return None
    near = difflib.get_close_matches(task, known, n=1)
    meant = f" (is {near[0]!r} meant?)" if near else ""
    return (
        f"no file loaded here and no recent run knows a task named {task!r}{meant}; "
        f"its jobs wait until a run does: launcher.py --tasks FILE"
    )
