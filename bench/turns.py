"""Sides of a comparison that take turns: single figures of a busy machine mean little.

They alternate in short rounds, so that whatever else the machine does falls on all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from bench import harness
from bench.harness import Row, Wanted


class Figures(dict[str, list[float]]):
    """What each side came to, round by round; `lost` says why others came to nothing."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__({name: [] for name in names})
        self.lost: dict[str, str] = {}

    def lose(self, name: str, error: Exception) -> None:
        """Leave a side out from here on, with whatever it had."""
        self.lost[name] = f"{name}: {error or type(error).__name__}"
        del self[name]
        harness.say(f"not measured: {self.lost[name]}")

    def row(
        self, what: str, against: str, ours: str, theirs: str, wanted: Wanted | None, *,
        unit: str, note: str = "",
    ) -> Row:  # fmt: skip
        """Compare two sides; one that is lost makes a row that is not met, and says why."""
        for side in (ours, theirs):
            if side in self.lost:
                return harness.missing(what, against, wanted, self.lost[side])
        return harness.compared(
            what, against, self[ours], self[theirs], wanted, unit=unit, note=note
        )


def take_turns(
    sides: Mapping[str, Callable[[], float]], *, seconds: float, least: int = harness.MIN_ROUNDS
) -> Figures:
    """Measure every side once a round until the time is used up, every other round backwards.

    A side that fails is left out from then on: it costs no other side its figures.
    """
    figures = Figures(sides)
    began, rounds = time.monotonic(), 0
    while figures and (rounds < least or _has_time(began, rounds, seconds)):
        for name in list(figures) if rounds % 2 == 0 else list(figures)[::-1]:
            try:
                figures[name].append(sides[name]())
            except Exception as error:
                figures.lose(name, error)
        rounds += 1
        last = (f"{name} {each[-1]:.4g}" for name, each in figures.items())
        harness.say(f"round {rounds}: {', '.join(last)}")
    return figures


def _has_time(began: float, rounds: int, seconds: float) -> bool:
    took = time.monotonic() - began
    return took + took / rounds <= seconds
