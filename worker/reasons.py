"""Why something is as it is, for people: also where nobody kept a reason, as in plain SQL."""

from __future__ import annotations

NO_REASON = "no reason was kept"


def kept(reason: str | None) -> str:
    """Give a reason, or say that there is none."""
    return (reason or "").strip() or NO_REASON


def last_error_line(last_error: str | None) -> str | None:
    """Return what a traceback comes to: its last line, if there is one."""
    lines = (last_error or "").strip().splitlines()
    return lines[-1].strip() if lines else None
