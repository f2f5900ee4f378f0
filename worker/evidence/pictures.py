"""The pictures in a folder of evidence: what their files are called, and in which format they are.

Whoever takes, keeps, shows or sends one goes by this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Picture:
    """One kind of picture; `beginning` is what every file of its format begins with."""

    file_name: str
    format: Literal["png", "jpeg"]
    beginning: bytes

    @property
    def media_type(self) -> str:
        """Name the format as HTTP does."""
        return f"image/{self.format}"


FAILURE = Picture("screenshot.png", "png", b"\x89PNG\r\n\x1a\n")
LAST_GOOD = Picture("good.jpg", "jpeg", b"\xff\xd8\xff")
