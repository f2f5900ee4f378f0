"""How much a job may write: a thread that looks at the worker's temporary folder while a job runs.

Its downloads count in full, since they are emptied between jobs; of all else that Chromium writes
there, what has come since the job began. A trace is the operator's wish and has a bound of its own.
Past either the browser is killed, and with it whoever writes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from worker.browser.scratch_folder import DOWNLOADS, TRACES
from worker.errors import PageRefused

LOOK_SECONDS = 0.5
MB = 1_000_000
# Eight times what can be masked and kept (`trace_file.py`): more is of no use to anybody.
MAX_TRACE_MB = 500


class DiskBudget:
    """The budget of one job at a time; `exceeded` says by how much it was passed."""

    def __init__(
        self, folder: Path, megabytes: float, kill: Callable[[], None], every: float = LOOK_SECONDS
    ) -> None:
        self.exceeded: PageRefused | None = None
        self._folder = folder
        self._megabytes = megabytes
        self._kill = kill
        self._every = every
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        # The least that was there since the job began, beside what is its own.
        self._least: int | None = None
        self._is_running = False

    def begin(self) -> None:
        """Watch over a job; costs nothing, since the thread does the looking."""
        with self._lock:
            self._is_running, self._least, self.exceeded = True, None, None
        if self._thread is None or not self._thread.is_alive():
            self._wake.clear()
            self._thread = threading.Thread(target=self._watch, name="disk budget", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Watch no more: the job is over, whatever is still written is cleaned up after it."""
        with self._lock:
            self._is_running = False

    def close(self) -> None:
        """End the thread."""
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self._thread = None

    def _watch(self) -> None:
        while not self._wake.wait(self._every):
            if self._is_running:
                own, trace = (size_of(self._folder / name) for name in (DOWNLOADS, TRACES))
                self._look(own, size_of(self._folder) - own - trace, trace)

    def _look(self, own: int, others: int, trace: int = 0) -> None:
        with self._lock:
            if not self._is_running or self.exceeded is not None:
                return
            self._least = others if self._least is None else min(others, self._least)
            written = own + others - self._least
            if (reason := self._why_too_much(written, trace)) is None:
                return
            self.exceeded = PageRefused(reason)
            # Under the lock: whoever ends the job waits, so that no later browser is hit.
            self._kill()

    def _why_too_much(self, written: int, trace: int) -> str | None:
        if written > self._megabytes * MB:
            return (
                f"the job has written {written / MB:.0f} MB to disk, the limit is "
                f"{self._megabytes:g} MB; download less, or raise --job-disk-mb"
            )
        if trace > MAX_TRACE_MB * MB:
            return (
                f"the job's trace has {trace / MB:.0f} MB, the limit is {MAX_TRACE_MB} MB; "
                "run it without --trace"
            )
        return None


def size_of(folder: Path) -> int:
    """Add up the files in a folder, as far as they can be read while others write there."""
    total = 0
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return 0
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                total += size_of(Path(entry.path))
            else:
                # Blocks, not length: a file with holes costs what is in it.
                total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return total
