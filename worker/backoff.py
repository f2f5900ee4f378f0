"""How long to wait before another try: exponential, with jitter, capped."""

from __future__ import annotations

import random

MAX_DELAY_SECONDS = 3600.0


def backoff_seconds(tries: int, base_seconds: float, cap: float = MAX_DELAY_SECONDS) -> float:
    """Return the wait after `tries` failed tries: doubled each time, give or take a quarter."""
    exponent = min(max(tries - 1, 0), 30)
    return float(min(base_seconds * 2**exponent, cap) * random.uniform(0.75, 1.25))
