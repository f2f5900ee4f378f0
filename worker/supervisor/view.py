"""What a display is shown of the pool, and what the run comes to in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One slot, as it stands."""

    slot: int | None
    doing: str
    job_id: int | None
    label: str
    step: str
    age_seconds: float
    done: int
    failed: int

    @property
    def is_busy(self) -> bool:
        return self.job_id is not None


@dataclass(frozen=True, slots=True)
class AutoNumber:
    """How many workers a run has that finds that out itself (`--workers auto`)."""

    number: int
    # How many it began with, and the most that it has had.
    first: int
    highest: int
    # The most that it may have.
    limit: int

    def __str__(self) -> str:
        return f"{self.number} worker{'s' * (self.number != 1)} (auto, up to {self.limit})"


@dataclass(frozen=True, slots=True)
class PoolView:
    """The whole pool, as it stands; `left` is None until the queue has been counted."""

    seconds: float
    done: int
    failed: int
    retried: int
    left: int | None
    waiting: int
    is_stopping: bool
    database_away_seconds: float
    workers: Sequence[WorkerView]
    held_back: int = 0
    held_because: str = ""
    auto_workers: AutoNumber | None = None


class Display(Protocol):
    """Where the supervisor shows what goes on."""

    def update(self, view: PoolView) -> None:
        """Show the pool as it stands; called several times a second."""

    def line(self, who: str, text: str) -> None:
        """Show one line that a child has printed."""

    def say(self, text: str) -> None:
        """Show one line of the launcher's own."""

    def close(self) -> None:
        """Put the terminal back as it was."""


@dataclass(frozen=True, slots=True)
class WorkerSummary:
    """What one slot came to."""

    slot: int | None
    done: int
    failed: int
    retried: int
    crashes: int
    given_up: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to."""

    run_id: int
    seconds: float
    done: int = 0
    failed: int = 0
    retried: int = 0
    swept: int = 0
    handed_back: int = 0
    crashes: int = 0
    left: dict[str, int] | None = None
    stopped_by: str | None = None
    workers: list[WorkerSummary] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)
    held_back: list[dict[str, Any]] = field(default_factory=list)
    auto_workers: AutoNumber | None = None
    # Whether its workers have met jobs that are not its own: those are not counted.
    has_strangers: bool = False
    # How many jobs may fail; None: any number.
    fail_over: int | None = None
    # Whether the database has been told of the run's end.
    is_recorded: bool = True

    @property
    def rate(self) -> float:
        """Jobs ended per second."""
        return (self.done + self.failed) / self.seconds if self.seconds > 0 else 0.0

    @property
    def is_unfinished(self) -> bool:
        """Whether no slot could be kept going."""
        return bool(self.workers) and all(worker.given_up for worker in self.workers)

    @property
    def has_too_many_failed(self) -> bool:
        """Whether more jobs failed than `--fail-over` allows."""
        return self.fail_over is not None and self.failed > self.fail_over

    @property
    def is_worth_a_word(self) -> bool:
        """Whether something was wrong, so that a quiet run tells of it, too."""
        return bool(
            self.failed
            or self.crashes
            or self.is_unfinished
            or self.held_back
            or not self.is_recorded
        )

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "rate": round(self.rate, 3)}
