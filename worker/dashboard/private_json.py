"""A JSON file that only its owner may read: read anew when it changes, changed by one at a time.

Whoever writes puts the whole file in its place at once: a reader finds the old one or the new one.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from worker.errors import SettingsError
from worker.system.durable_file import write_durably
from worker.system.private_files import is_open_to_others


class PrivateJson:
    """One file; `empty` is what it holds while it is not there."""

    def __init__(self, path: Path, empty: dict[str, Any]) -> None:
        self.path = path
        self._empty = json.dumps(empty)
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._text = self._empty

    def read(self) -> dict[str, Any]:
        """Give what the file holds; raises SettingsError if other users may read it."""
        with self._lock:
            return json.loads(self._current())  # type: ignore[no-any-return]

    @contextmanager
    def changed(self) -> Iterator[dict[str, Any]]:
        """Give what the file holds, to be changed within the block and written at its end."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(
            self.path.with_name(f".{self.path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600
        )
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = self.read()
            yield known
            write_durably(self.path, json.dumps(known, indent=1).encode())
        finally:
            os.close(lock)

    def _current(self) -> str:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._seen = None
            return self._empty
        if is_open_to_others(self.path):
            raise SettingsError(
                f"{self.path} holds keys, and others may read it: chmod 600 {self.path}"
            )
        mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._seen != mark:
            self._text = self.path.read_text(encoding="utf-8")
            self._seen = mark
        return self._text
