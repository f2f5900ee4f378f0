"""The drill's report: the ledger, and how long the pool took to recover from each fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from worker.drill.ledger import Findings
from worker.drill.recovery import KindSummary

NAMED = 10


@dataclass(frozen=True, slots=True)
class Report:
    """What a drill came to."""

    server: str
    workers: int
    seed: int
    seconds: float
    launchers: int
    findings: Findings
    kinds: list[KindSummary] = field(default_factory=list)
    standstill_seconds: float = 0.0
    # Faults that were tried and never happened, with the reason; others took their places.
    missed: list[str] = field(default_factory=list)
    # Why the drill ended before its jobs did, if it did.
    broken_off: str | None = None

    @property
    def faults(self) -> int:
        return sum(kind.count for kind in self.kinds)

    @property
    def is_clean(self) -> bool:
        return self.findings.is_clean and self.broken_off is None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "faults": self.faults, "is_clean": self.is_clean}

    def lines(self) -> list[str]:
        """Write it for people, a fact a line."""
        found = self.findings
        lines = [
            f"drill on {self.server}: {found.jobs:,} jobs, {self.workers} workers, "
            f"{self.faults} faults in {self.seconds:.0f} s (seed {self.seed})",
            *([f"  BROKEN OFF: {self.broken_off}"] if self.broken_off else []),
            f"  jobs in              {found.jobs:>7,}",
            f"  done                 {found.done:>7,}",
            f"  error                {found.errors:>7,}   {found.errors_wanted} asked for, "
            f"{found.errors_poison} hit twice by the drill",
            *_named("good jobs in error", found.good_in_error),
            *_named("lost", found.lost),
            *_named("finished twice", found.finished_twice),
            *_named("overlapping claims", found.overlapping),
            *_named("left behind", found.leftovers),
            *_named("broken promises", found.broken_promises),
            f"  attempts             {found.attempts:>7,}   "
            + ", ".join(f"{n:,} {name}" for name, n in sorted(found.outcomes.items())),
            f"  executed again       {found.executed_again:>7,}   "
            f"{found.overlapping_executions} of them beside one that had lost its claim",
            *(_named("faults that missed", self.missed) if self.missed else []),
            f"  launchers started    {self.launchers:>7,}",
            f"  longest standstill   {self.standstill_seconds:>7.1f} s without any job ending",
        ]
        return [*lines, *self._table(), self._verdict()]

    def _table(self) -> list[str]:
        head = f"  {'fault':<34}{'count':>6}{'measured':>10}{'median s':>10}{'max s':>8}"
        return ["", head, *(_row(kind) for kind in self.kinds), ""]

    def _verdict(self) -> str:
        if self.is_clean:
            return (
                "clean: nothing lost or finished twice, no good job in error, nothing left behind"
            )
        return "NOT CLEAN: see above"


def _named(what: str, items: Sequence[str]) -> list[str]:
    more = [f"    … and {len(items) - NAMED} more"] if len(items) > NAMED else []
    return [
        f"  {what:<20} {len(items):>7,}",
        *(f"    {item}" for item in items[:NAMED]),
        *more,
    ]


def _row(kind: KindSummary) -> str:
    def figure(seconds: float | None) -> str:
        return "–" if seconds is None else f"{seconds:.1f}"

    return (
        f"  {kind.kind:<34}{kind.count:>6}{kind.measured:>10}"
        f"{figure(kind.median_seconds):>10}{figure(kind.max_seconds):>8}"
    )
