"""A worker's own temporary folder: wiped at start and end, because temp profiles eat inodes."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from worker.errors import LaunchFailed
from worker.system.scarcity import is_scarcity

TRACES = "traces"
DOWNLOADS = "downloads"


@dataclass(frozen=True, slots=True)
class ScratchFolder:
    """The folder that driver and browser get as their TMPDIR."""

    path: Path

    def wipe(self) -> None:
        """Start anew with an empty one; raises LaunchFailed."""
        self.remove()
        self.make()

    def make(self) -> None:
        """Have the folder with its subfolders; raises LaunchFailed when it cannot be written."""
        try:
            for name in (TRACES, DOWNLOADS):
                (self.path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LaunchFailed(
                f"cannot write to {self.path} ({error.strerror}): "
                "make it writable, or free some space",
                is_passing=is_scarcity(error),
            ) from error

    def drop_leavings(self) -> None:
        """Remove what a job has left: discarded traces, and downloads."""
        for name in (TRACES, DOWNLOADS):
            for path in (self.path / name).glob("*"):
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.path, ignore_errors=True)
