"""Charts and marks for templates. The charts escape every text that they are given, so their SVG
may stand in a page as it is; this is the only place that says so.
"""

from __future__ import annotations

from markupsafe import Markup

from worker.reporting.charts import marks, shares
from worker.reporting.charts.marks import Mark


def drawn(svg: str) -> Markup:
    """Let a picture that a chart has drawn stand in a page."""
    return Markup(svg)


def mark(which: str, label: str | None = None) -> Markup:
    """Give a mark within text; without a label it is an ornament."""
    return drawn(marks.mark(Mark(which), label))


def definitions() -> Markup:
    """Give the symbols that a page holds once."""
    return drawn(marks.definitions())


def meter(share: float, colour: str = "f-run") -> Markup:
    """Draw how much of something is used."""
    return drawn(shares.meter(share, colour))
