"""Say where the evidence of an attempt is, wherever the errors folder is today."""

from __future__ import annotations

from pathlib import Path

from worker.database.client import Row
from worker.project import errors_dir
from worker.system.identity import is_this_host

__all__ = ["errors_dir", "place"]


def place(attempt: Row) -> str | None:
    """Name the folder, and its machine if that is another; None when there is no evidence.

    An attempt that did not note its errors folder is looked for in today's.
    """
    if not attempt["evidence"]:
        return None
    folder = Path(attempt["evidence_dir"] or errors_dir()) / attempt["evidence"]
    host = attempt["evidence_host"]
    return str(folder) if is_this_host(host) else f"{folder} on {host}"


def folder_here(attempt: Row) -> Path | None:
    """Find the folder, if there is evidence and it is on this machine."""
    if not attempt["evidence"] or not is_this_host(attempt["evidence_host"]):
        return None
    return Path(attempt["evidence_dir"] or errors_dir()) / str(attempt["evidence"])
