"""SVG as text: elements, numbers and strangers' words, escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from worker.evidence.terminal_text import one_line

LONGEST_TEXT = 2000


def words(text: str, longest: int = LONGEST_TEXT) -> str:
    """Make any text fit to stand in SVG or HTML, also within an attribute; cut when too long."""
    line = one_line(text)
    return escape(line if len(line) <= longest else line[: longest - 1] + "…")


def number(value: float) -> str:
    """Write a coordinate briefly."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def percent(share: float) -> str:
    """Write a share of the width."""
    return f"{100 * min(max(share, 0.0), 1.0):.2f}%"


def element(tag: str, *inside: str, **attributes: str | float) -> str:
    """Write one element; `class_` is `class`, and `_` in names is `-`. Values are escaped."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
    )
    content = "".join(inside)
    return f"<{tag}{given}>{content}</{tag}>" if content else f"<{tag}{given}/>"


def stretched(width: float, height: float, top: float, inside: Iterable[str]) -> str:
    """Write an inner SVG that fills the width; its own units are `width` by `height`."""
    view = f"0 0 {number(max(width, 0.01))} {number(height)}"
    return (
        f'<svg viewBox="{view}" preserveAspectRatio="none" width="100%"'
        f' height="{number(height)}" y="{number(top)}">{"".join(inside)}</svg>'
    )


def picture(name: str, title: str, description: str, height: float, inside: Iterable[str]) -> str:
    """Write the outer SVG with its words; `name` is for ids, and unique on the page."""
    key = words(name)
    return (
        f'<svg class="chart" width="100%" height="{number(height)}" role="img"'
        f' aria-labelledby="{key}-t {key}-d">'
        f'<title id="{key}-t">{words(title)}</title><desc id="{key}-d">{words(description)}</desc>'
        f"{''.join(inside)}</svg>"
    )


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else number(value)
