"""How often signing in may fail, by name and by address: guessing must not pay."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

# More names than this are not remembered one by one: then all share one limit.
MOST_KEYS = 10_000


@dataclass(slots=True)
class SignInLimit:
    """Failures of the last while, by key."""

    most: int
    window_seconds: float
    now: Callable[[], float] = time.monotonic
    _failures: dict[str, deque[float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait_seconds(self, *keys: str) -> float:
        """Tell how long to wait before another try with these keys; 0 when it may be now."""
        with self._lock:
            # Otherwise a full memory, which lets no new name in, would never empty again.
            self._forget_old()
            return max((self._wait(key) for key in keys), default=0.0)

    def note_failure(self, *keys: str) -> None:
        """Count a failure against each of these keys."""
        with self._lock:
            self._forget_old()
            for key in keys:
                self._failures.setdefault(key, deque(maxlen=self.most)).append(self.now())

    def note_success(self, *keys: str) -> None:
        """Take back the last failure of these keys: it was none."""
        with self._lock:
            for key in keys:
                if failed := self._failures.get(key):
                    failed.pop()
                    if not failed:
                        del self._failures[key]

    def _wait(self, key: str) -> float:
        if len(self._failures) >= MOST_KEYS and key not in self._failures:
            return self.window_seconds
        failed = self._failures.get(key)
        if failed is None or len(failed) < self.most:
            return 0.0
        return max(0.0, failed[0] + self.window_seconds - self.now())

    def _forget_old(self) -> None:
        until = self.now() - self.window_seconds
        old = [key for key, failed in self._failures.items() if failed[-1] < until]
        for key in old:
            del self._failures[key]
