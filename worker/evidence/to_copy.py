"""Evidence of this host that waits to be copied to the shared place: a small file for each.

The files outlive the run that made them. There is a folder for them only while runs here have a
shared place; without one, nothing is noted.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# The place may be away for a night; the evidence itself stays on this host in any case.
MOST = 10_000
_ENDING = ".json"


@dataclass(frozen=True, slots=True)
class Waiting:
    """One attempt's evidence that is to be copied, and the file that says so."""

    note: Path
    errors_dir: Path
    evidence: str

    @property
    def folder(self) -> Path:
        return self.errors_dir / self.evidence

    def forget(self) -> None:
        """Take it off the list."""
        self.note.unlink(missing_ok=True)


def folder_of(state_dir: Path) -> Path:
    """Name the folder of the notes."""
    return state_dir / "evidence-to-copy"


def switch(state_dir: Path, *, is_wanted: bool) -> None:
    """Note evidence from now on, or no longer; then what waits is forgotten."""
    folder = folder_of(state_dir)
    if is_wanted:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def add(state_dir: Path, errors_dir: str | Path, evidence: str) -> bool:
    """Note evidence that is complete; False where it is not wanted, or too much waits already.

    Never raises: whatever happens here, the job's outcome must not suffer.
    """
    folder = folder_of(state_dir)
    told = json.dumps({"errors_dir": str(errors_dir), "evidence": evidence})
    partial = folder / f".{time.time_ns()}-{os.getpid()}"
    try:
        if sum(1 for _ in folder.iterdir()) >= MOST:
            return False
        partial.write_text(told, encoding="utf-8")
        partial.rename(folder / f"{partial.name[1:]}{_ENDING}")
    except OSError:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        return False
    return True


def is_empty(state_dir: Path) -> bool:
    """Whether nothing waits."""
    try:
        with os.scandir(folder_of(state_dir)) as entries:
            return not any(entry.name.endswith(_ENDING) for entry in entries)
    except OSError:
        return True


def waiting(state_dir: Path) -> Iterator[Waiting]:
    """List what waits, the oldest first; what cannot be read is removed."""
    folder = folder_of(state_dir)
    with suppress(FileNotFoundError):
        for note in sorted(folder.glob(f"*{_ENDING}")):
            try:
                told = json.loads(note.read_bytes())
                yield Waiting(note, Path(told["errors_dir"]), str(told["evidence"]))
            except FileNotFoundError:
                # Another run has copied it.
                continue
            except (OSError, ValueError, KeyError, TypeError):
                with suppress(OSError):
                    note.unlink()
