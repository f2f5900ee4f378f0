"""What attempts came to, added up: the numbers that every roll-up row holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from worker.database.client import Row
from worker.models import Outcome
from worker.reporting.histogram import Histogram, added

# Attempts that ended so without ending their job are tried again; those handed back cost nothing.
AGAIN = (Outcome.RETRY, Outcome.BLOCKED, Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.SWEPT)


@dataclass(slots=True)
class Tally:
    """Attempts that ended in one way."""

    attempts: int = 0
    failed: int = 0
    recovered: int = 0
    run_seconds: float = 0.0
    wait_seconds: float = 0.0
    durations: Histogram = field(default_factory=Histogram)
    waits: Histogram = field(default_factory=Histogram)

    @classmethod
    def of_row(cls, row: Row) -> Tally:
        """Read a row of a roll-up table."""
        return cls(
            attempts=int(row["attempts"]),
            failed=int(row["failed"]),
            recovered=int(row["recovered"]),
            run_seconds=float(row["run_seconds"]),
            wait_seconds=float(row["wait_seconds"]),
            durations=Histogram.parse(row["durations"]),
            waits=Histogram.parse(row["waits"]),
        )

    def as_params(self) -> dict[str, Any]:
        """Give its columns, for an INSERT."""
        return {
            "attempts": self.attempts,
            "failed": self.failed,
            "recovered": self.recovered,
            "run_seconds": self.run_seconds,
            "wait_seconds": self.wait_seconds,
            "durations": self.durations.as_json(),
            "waits": self.waits.as_json(),
        }

    def add(self, other: Tally) -> None:
        """Take in another tally."""
        self.attempts += other.attempts
        self.failed += other.failed
        self.recovered += other.recovered
        self.run_seconds += other.run_seconds
        self.wait_seconds += other.wait_seconds
        self.durations.add(other.durations)
        self.waits.add(other.waits)


@dataclass(slots=True)
class Figures:
    """What ended between two moments (UTC, as the database has them), by how it ended."""

    start: datetime
    end: datetime
    outcomes: dict[Outcome, Tally] = field(default_factory=dict)

    def add(self, outcome: Outcome, tally: Tally) -> None:
        """Take in attempts that ended so."""
        self.outcomes.setdefault(outcome, Tally()).add(tally)

    def attempts(self, *outcomes: Outcome) -> int:
        """Count the attempts that ended so, or all of them."""
        wanted = outcomes or tuple(self.outcomes)
        return sum(self.outcomes[each].attempts for each in wanted if each in self.outcomes)

    @property
    def done(self) -> int:
        """Jobs that were finished."""
        return self.attempts(Outcome.DONE)

    @property
    def failed(self) -> int:
        """Jobs that failed for good, however their last attempt ended."""
        return sum(tally.failed for tally in self.outcomes.values())

    @property
    def recovered(self) -> int:
        """Jobs that were finished after more than one attempt."""
        return sum(tally.recovered for tally in self.outcomes.values())

    @property
    def again(self) -> int:
        """Attempts whose job is tried again later."""
        found = [self.outcomes[each] for each in AGAIN if each in self.outcomes]
        return sum(tally.attempts - tally.failed for tally in found)

    @property
    def handed_back(self) -> int:
        """Attempts that were given up without costing their job anything."""
        return self.attempts(Outcome.HANDED_BACK)

    @property
    def busy_seconds(self) -> float:
        """How long workers were at jobs."""
        return sum(tally.run_seconds for tally in self.outcomes.values())

    @property
    def per_minute(self) -> float:
        """Jobs done or failed per minute."""
        minutes = (self.end - self.start).total_seconds() / 60
        return (self.done + self.failed) / minutes if minutes > 0 else 0.0

    @property
    def durations(self) -> Histogram:
        """How long the attempts took that finished their job."""
        done = self.outcomes.get(Outcome.DONE)
        return Histogram() if done is None else done.durations

    @property
    def waits(self) -> Histogram:
        """How long jobs had been ready before they were started."""
        return added(tally.waits for tally in self.outcomes.values())
