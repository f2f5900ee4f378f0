"""Log lines for programs: one JSON object a line, always with the same five fields.

Whoever writes one has taken secrets out of its message before. A line stays short enough to pass
through a worker's pipe whole.
"""

from __future__ import annotations

import json
import time
from typing import Any

FIELDS = ("time", "level", "worker", "job", "message")
# Longer lines would be cut on their way through the launcher, and be no JSON any more.
MAX_BYTES = 3900
LEVELS = frozenset({"debug", "info", "warning", "error", "critical"})


def json_line(message: str, *, level: str, worker: str | None, job: int | None = None) -> str:
    """Write one line; a message that is too long loses its end."""
    now = time.time()
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
    fields = {"time": at, "level": level, "worker": worker, "job": job}
    text = json.dumps({**fields, "message": message})
    while len(text) > MAX_BYTES:
        message = message[: len(message) * MAX_BYTES // len(text) - 1]
        text = json.dumps({**fields, "message": f"{message}…"})
    return text


def parse(text: str) -> dict[str, Any] | None:
    """Read such a line; None for any other text, also for JSON that somebody has made up."""
    if not text.startswith('{"time": '):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_ours = isinstance(found, dict) and tuple(found) == FIELDS
    is_ours = is_ours and found["level"] in LEVELS and isinstance(found["message"], str)
    return found if is_ours and isinstance(found["job"], int | None) else None
