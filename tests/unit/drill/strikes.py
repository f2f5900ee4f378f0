"""Strikes that never struck anything, for tests of what is made of them."""

from __future__ import annotations

import random
import threading
from typing import Any

from worker.drill.strike import Strike


def strike(struck_at: float, ended_at: float, victims: list[int] | None, kind: str = "x") -> Strike:
    nothing: Any = None
    return Strike(
        nothing,
        nothing,
        nothing,
        random.Random(0),
        threading.Event(),
        kind=kind,
        victims=victims,
        struck_at=struck_at,
        ended_at=ended_at,
    )
