"""What all benches share: rows with the ratio of two sides and what is wanted of it, and a table.

The sides take turns (`turns.py`), each ratio is of two neighbours, and the median of them counts.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

MIN_ROUNDS = 3
# `--tiny` shows that a bench works; its figures mean nothing.
TINY_ROUNDS = 1

_SIGNS = {"at least": "≥", "at most": "≤", "below": "<"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The target of a row: a limit, on which side of it is good, and its unit (none: a ratio)."""

    kind: Literal["at least", "at most", "below"]
    limit: float
    unit: str = ""

    def is_met(self, value: float) -> bool:
        """Tell whether a value is on the good side."""
        match self.kind:
            case "at least":
                return value >= self.limit
            case "at most":
                return value <= self.limit
        return value < self.limit

    def __str__(self) -> str:
        return f"{_SIGNS[self.kind]} {self.limit:g}{f' {self.unit}' if self.unit else ''}"


def at_least(limit: float) -> Wanted:
    """Want a ratio of this or more: of rates."""
    return Wanted("at least", limit)


def at_most(limit: float) -> Wanted:
    """Want a ratio of this or less: of times and sizes."""
    return Wanted("at most", limit)


def below(limit: float, unit: str) -> Wanted:
    """Want less than this, with nothing to compare with."""
    return Wanted("below", limit, unit)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `value` is what the target is about: a ratio, or our own figure.

    `met` is None where nothing is wanted; a row that could not be measured is not met.
    """

    what: str
    against: str = "–"
    unit: str = ""
    ours: float | None = None
    theirs: float | None = None
    value: float | None = None
    least: float | None = None
    most: float | None = None
    rounds: int = 0
    wanted: str = ""
    met: bool | None = None
    note: str = ""


def compared(
    what: str,
    against: str,
    ours: Sequence[float],
    theirs: Sequence[float],
    wanted: Wanted | None,
    *,
    unit: str,
    note: str = "",
) -> Row:
    """Make a row of two sides that took turns: the figures of a round are neighbours."""
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    value = statistics.median(ratios)
    return Row(
        what, against, unit, statistics.median(ours), statistics.median(theirs),
        value, min(ratios), max(ratios), len(ratios),
        str(wanted or ""), wanted.is_met(value) if wanted else None, note,
    )  # fmt: skip


def alone(
    what: str, figures: Sequence[float], wanted: Wanted | None, *, unit: str, note: str = ""
) -> Row:
    """Make a row of one side, whose own median counts."""
    value = statistics.median(figures)
    return Row(
        what, "–", unit, value, None, value, min(figures), max(figures), len(figures),
        str(wanted or ""), wanted.is_met(value) if wanted else None, note,
    )  # fmt: skip


def missing(what: str, against: str, wanted: Wanted | None, why: str) -> Row:
    """Make a row of what could not be measured: it is not met, and says why."""
    return Row(what, against, wanted=str(wanted or ""), met=False, note=why)


@dataclass(frozen=True, slots=True)
class Plot:
    """Points of one or several lines, or bars where x has words, for a picture."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float | str, float]]]


@dataclass(slots=True)
class Found:
    """What a bench has found: rows for the table, plots by name, and what it ran on."""

    rows: list[Row] = field(default_factory=list)
    plots: dict[str, Plot] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def is_met(self) -> bool:
        return all(row.met is not False for row in self.rows)

    @property
    def is_measured(self) -> bool:
        """Whether every row has a figure: no side of it failed."""
        return bool(self.rows) and all(row.value is not None for row in self.rows)


def say(text: str) -> None:
    """Tell how far it is, beside the results."""
    print(f"  {text}", file=sys.stderr, flush=True)


def table(rows: Sequence[Row], missed: str = "MISSED") -> str:
    """Lay rows out as a Markdown table that can be read as it is."""
    cells: list[tuple[str, ...]] = [
        ("what", "against", "ours", "theirs", "ratio", "min–max", "wanted", "")
    ]
    cells += [_cells(row, missed) for row in rows]
    widths = [max(len(line[place]) for line in cells) for place in range(len(cells[0]))]
    ruler = tuple("-" * width for width in widths)
    lines = [cells[0], ruler, *cells[1:]]
    return "\n".join(
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |"
        for line in lines
    )


def _cells(row: Row, missed: str) -> tuple[str, ...]:
    is_ratio = row.theirs is not None
    spread = "–" if row.least is None or row.most is None else f"{row.least:.3g}–{row.most:.3g}"
    return (
        row.what,
        row.against,
        _figure(row.ours, row.unit),
        _figure(row.theirs, row.unit),
        f"{row.value:.2f}" if is_ratio and row.value is not None else "–",
        spread,
        row.wanted or "–",
        missed if row.met is False else "met" if row.met else "",
    )


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


def parser(module: str, doc: str | None, seconds: float) -> argparse.ArgumentParser:
    """Make the options that every bench has; `seconds` is what all its rounds may take."""
    made = argparse.ArgumentParser(prog=f"python -m {module}", description=doc)
    made.add_argument("--json", action="store_true", help="print JSON")
    made.add_argument("--no-check", action="store_true", help="exit 0 whatever is missed")
    made.add_argument("--seconds", type=float, default=seconds, help="time for all rounds")
    made.add_argument("--tiny", action="store_true", help="only show that it works")
    return made


def read(made: argparse.ArgumentParser) -> argparse.Namespace:
    """Read the command line; `least` is how many rounds there are, however long they take."""
    options = made.parse_args()
    end_on_sigterm()
    options.least = TINY_ROUNDS if options.tiny else MIN_ROUNDS
    if options.tiny:
        options.seconds = 0.0
    return options


def end_on_sigterm() -> None:
    """End by SIGTERM as by an error, so that servers, pools and folders go too.

    SIGINT will not do: what a shell starts in the background does not hear it.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def tell(found: Found, options: argparse.Namespace) -> int:
    """Print what was found; return the exit code: 1 when a target is missed.

    With `--tiny` no target counts, but 1 says that something could not be measured.
    """
    if options.json:
        print(json.dumps(as_json(found)))
    else:
        if options.tiny:
            print("tiny: only shows that it works, the figures mean nothing")
        print(" · ".join(found.facts.values()))
        print(table(found.rows))
        for note in dict.fromkeys(row.note for row in found.rows if row.note):
            print(f"- {note}")
    if options.tiny:
        return 0 if found.is_measured else 1
    return 0 if options.no_check or found.is_met else 1


def as_json(found: Found) -> dict[str, Any]:
    """Write what was found as plain values."""
    return {
        "facts": found.facts,
        "rows": [asdict(row) for row in found.rows],
        "plots": {name: asdict(plot) for name, plot in found.plots.items()},
    }


def from_json(value: Mapping[str, Any]) -> Found:
    """Read what `as_json` wrote."""
    return Found(
        [Row(**row) for row in value["rows"]],
        {name: Plot(**plot) for name, plot in value["plots"].items()},
        dict(value["facts"]),
    )
