"""The reports that runs have written: found by listing their folder, never by a path."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

MOST = 500
MOST_BYTES = 20_000_000
_STYLE = re.compile(rb"<style[^>]*>(.*?)</style>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReportFile:
    """One report; its time is when it was written, in UTC."""

    name: str
    size: int
    written_at: datetime


def listed(folder: Path | None) -> list[ReportFile]:
    """List the HTML files in a folder, the latest first."""
    if folder is None:
        return []
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".html") and entry.is_file(follow_symlinks=False):
                    told = entry.stat(follow_symlinks=False)
                    at = datetime.fromtimestamp(told.st_mtime, UTC).replace(tzinfo=None)
                    found.append(ReportFile(entry.name, told.st_size, at))
    except OSError:
        return []
    return sorted(found, key=lambda each: each.written_at, reverse=True)[:MOST]


def read(folder: Path | None, name: str) -> bytes | None:
    """Read a report that is in the list; None for anything else."""
    if folder is None or name not in {each.name for each in listed(folder)}:
        return None
    with (folder / name).open("rb") as file:
        return file.read(MOST_BYTES)


def policy_of(html: bytes) -> str:
    """Write the policy for a report: its own sheets by their hashes, its own pictures, no more."""
    sheets = (
        " ".join(
            f"'sha256-{base64.b64encode(hashlib.sha256(sheet).digest()).decode()}'"
            for sheet in _STYLE.findall(html)
        )
        or "'none'"
    )
    return (
        f"sandbox allow-popups; default-src 'none'; style-src {sheets}; "
        f"img-src data:; frame-ancestors 'none'"
    )
