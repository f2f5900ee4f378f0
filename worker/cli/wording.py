"""How figures are written for people: counts, durations, times, sizes."""

from __future__ import annotations

import getpass
import socket
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any


def on_host(host: str | None) -> str:
    """Say on which host, where that is known: ` on night-2`."""
    return f" on {host}" if host else ""


def counted(number: int, noun: str) -> str:
    """Write `1 job`, `2 jobs` or `1,000 jobs`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def operator() -> str:
    """Name the person who gives this command, so that others can ask later."""
    return f"{getpass.getuser()}@{socket.gethostname()}"


def duration(seconds: float) -> str:
    """Write `42 s`, `3 m 20 s`, `2 h 05 m` or `3 d 4 h`."""
    whole = int(seconds)
    if whole < 10:
        return f"{seconds:.1f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} m"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def moment(value: datetime | None) -> str:
    """Write a time of the database, which is always UTC."""
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M:%S}Z"


def plain(value: Any) -> Any:
    """Turn a database value into one that JSON knows."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value


def size(count: float) -> str:
    """Write a number of bytes as `740 B`, `12.0 MB` or `5.0 GB`."""
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 1000:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:.1f} TB"
