"""How the benches lay out what they found: both sides, their ratio, and the ratio wanted."""

from __future__ import annotations

import statistics


def header(width: int, against: str) -> str:
    """Name the columns; `against` is the side that ours is compared with."""
    return f"{'':{width}}{against:>9}{'ours':>9}{'median':>9}{'min–max':>12}{'wanted':>9}"


def line(
    name: str, width: int, pairs: list[tuple[float, float]], wanted: float, digits: int = 0
) -> str:
    """Lay out one scenario by its pairs of rounds: the other side's speed, then ours."""
    against = statistics.median(pair[0] for pair in pairs)
    ours = statistics.median(pair[1] for pair in pairs)
    shares = [pair[1] / pair[0] for pair in pairs]
    spread = f"{min(shares):.2f}–{max(shares):.2f}"
    median = statistics.median(shares)
    return (
        f"{name:{width}}{against:>7.{digits}f}/s{ours:>7.{digits}f}/s"
        f"{median:>9.2f}{spread:>12}{wanted:>9.2f}{'' if median >= wanted else '  MISSED'}"
    )
