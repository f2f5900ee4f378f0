"""What a task sees of its job: who it is, how long it has, and a place to say how far it got."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any


class _JobLog(logging.LoggerAdapter[logging.Logger]):
    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        return f"job {(self.extra or {})['job']}: {msg}", kwargs


@dataclass(slots=True)
class Job:
    """The third argument of every task."""

    id: int
    attempt: int
    max_attempts: int
    task: str
    deadline: float
    last_step: str | None = None
    _on_step: Callable[[str], None] = field(default=lambda text: None, repr=False)

    def step(self, text: str) -> None:
        """Name the last safe point reached; it is shown live and kept with the attempt."""
        self.last_step = text
        self._on_step(text)

    @property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger whose lines name the job."""
        return _JobLog(logging.getLogger("nightshift.job"), {"job": self.id})

    @property
    def seconds_left(self) -> float:
        """How long the task may still run before its browser is taken away."""
        return max(0.0, self.deadline - time.monotonic())
