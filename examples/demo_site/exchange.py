"""What the parts of the site hand to each other: a request, and one of three kinds of answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote


@dataclass(frozen=True, slots=True)
class Request:
    """One request, already taken apart; the last value of a repeated field wins."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    form: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> list[str]:
        """The path's segments, decoded: `/orders/1001` is `["orders", "1001"]`."""
        return [unquote(part) for part in self.path.strip("/").split("/") if part]


@dataclass(frozen=True, slots=True)
class Response:
    """An ordinary answer, sent after `delay_seconds`."""

    body: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "text/html; charset=utf-8"
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Silence:
    """No answer at all, for as long as the client cares to wait."""


@dataclass(frozen=True, slots=True)
class Reset:
    """A connection torn down by TCP reset instead of an answer."""


Answer = Response | Silence | Reset


def redirect(location: str, status: int = 303, *headers: tuple[str, str]) -> Response:
    """Send the client elsewhere on the site."""
    return Response("", status, (("Location", location), *headers))


def small_number(text: str) -> int | None:
    """Read a plain decimal of at most six digits, as they stand in paths; None for all else."""
    is_number = text.isascii() and text.isdigit() and len(text) <= 6
    return int(text) if is_number else None
