"""The evidence of an attempt: found by job and attempt, read by fixed names, never by a path.

Everything in it was written by a site or a task: it is text to escape, or a file to keep apart.
"""

from __future__ import annotations

import json
import os
import re
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worker.database.client import Row
from worker.evidence import last_good
from worker.evidence.good_pages import KEPT_HTML
from worker.evidence.last_good import LastGood
from worker.evidence.pictures import FAILURE, LAST_GOOD
from worker.installation import command_line
from worker.system.identity import is_this_host

# By the name in addresses: the file, and how it is sent.
FILES = {
    "screenshot": (FAILURE.file_name, FAILURE.media_type),
    "page": ("page.html", "text/plain; charset=utf-8"),
    "console": ("console.log", "text/plain; charset=utf-8"),
    "network": ("network.json", "text/plain; charset=utf-8"),
    "error": ("error.json", "text/plain; charset=utf-8"),
    "traceback": ("traceback.txt", "text/plain; charset=utf-8"),
    "trace": ("trace.zip", "application/zip"),
    "good": (LAST_GOOD.file_name, LAST_GOOD.media_type),
    "good-page": (KEPT_HTML, "text/plain; charset=utf-8"),
}
MOST_TEXT = 200_000
MOST_LINES = 200
MOST_ATTEMPTS = 20
MOST_STEPS = 40
MOST_SECONDS = 1_000_000
_PLACE = re.compile(r"\d{1,19}/[\w.-]{1,120}")
_CONSOLE = re.compile(r"\s*([\d.]+) (\S+)\s+(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an attempt left, as far as it can be read here."""

    folder: Path | None = None
    # Where it is, when that is not here, or why there is nothing.
    elsewhere: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    traceback: str = ""
    console: list[tuple[str, str, str]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    request_count: int = 0
    # When the screenshot was taken (UTC, by the clock of its host), and its width and height.
    taken_at: datetime | None = None
    shape: tuple[int, int] | None = None
    # The last good page of the same task and site, to compare with.
    last_good: LastGood | None = None


def folder_of(attempt: Row, errors_dir: Path) -> Path | None:
    """Find the folder of an attempt's evidence; None when it has none, or not on this machine.

    A row may say anything: a place that is not `<job>/<attempt>` of that very job is no place.
    """
    place = attempt["evidence"]
    if not place or not _PLACE.fullmatch(place) or ".." in place:
        return None
    if place.partition("/")[0] != str(attempt["job_id"]):
        return None
    if not is_this_host(attempt["evidence_host"]):
        return None
    folder = Path(attempt["evidence_dir"] or errors_dir) / place
    return folder if folder.is_dir() and not folder.is_symlink() else None


def last_good_of(attempt: Row, errors_dir: Path) -> LastGood | None:
    """Read what an attempt's evidence says of the last good page of its task and site."""
    folder = folder_of(attempt, errors_dir)
    return None if folder is None else last_good.of_facts(_json(read_text(folder, "error")))


def open_file(folder: Path, name: str) -> int | None:
    """Open one of the known files; None when it is not there, or is no plain file."""
    try:
        number = os.open(folder / FILES[name][0], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    if not os.path.isfile(f"/proc/self/fd/{number}"):  # noqa: PTH113 - of the open file itself
        os.close(number)
        return None
    return number


def read_text(folder: Path, name: str) -> str:
    """Read one of the known files as text, up to a length; empty when it is not there."""
    number = open_file(folder, name)
    if number is None:
        return ""
    with os.fdopen(number, "rb") as file:
        return file.read(MOST_TEXT).decode("utf-8", "replace")


def look(attempt: Row | None, errors_dir: Path) -> Evidence:
    """Read what a page shows of an attempt's evidence."""
    if attempt is None or not attempt["evidence"]:
        return Evidence(elsewhere="This attempt left no evidence.")
    folder = folder_of(attempt, errors_dir)
    if folder is None:
        host = attempt["evidence_host"]
        if not is_this_host(host):
            return Evidence(
                elsewhere=f"The evidence is on {host}: {attempt['evidence']}. With a shared place "
                f"for evidence: {command_line('evidence', 'get', attempt['job_id'])}"
            )
        return Evidence(elsewhere="The evidence is not there any more.")
    network = _json(read_text(folder, "network"))
    requests = list(_requests(network))
    facts = _json(read_text(folder, "error"))
    return Evidence(
        folder=folder,
        sizes=_sizes(folder),
        facts=facts,
        traceback=read_text(folder, "traceback"),
        console=_console(read_text(folder, "console")),
        requests=requests[:MOST_LINES],
        request_count=len(requests),
        taken_at=_moment(facts.get("finished")),
        shape=_shape(folder),
        last_good=last_good.of_facts(facts),
    )


def steps_of(attempts: Sequence[Row], errors_dir: Path) -> dict[int, list[dict[str, Any]]]:
    """Read the steps of the latest attempts whose evidence is here, by their fences."""
    found = {}
    for attempt in attempts[-MOST_ATTEMPTS:]:
        folder = folder_of(attempt, errors_dir)
        told = None if folder is None else _json(read_text(folder, "error")).get("steps")
        if isinstance(told, list):
            steps = [step for step in told[:MOST_STEPS] if isinstance(step, dict)]
            found[int(attempt["fence"])] = steps
    return found


def has_file(attempt: Row, errors_dir: Path, name: str) -> bool:
    """Tell whether one of the known files is here, so that no page asks for what is not."""
    folder = folder_of(attempt, errors_dir)
    return folder is not None and _size(folder, name) is not None


def _sizes(folder: Path) -> dict[str, int]:
    return {name: size for name in FILES if (size := _size(folder, name)) is not None}


def _size(folder: Path, name: str) -> int | None:
    """Tell how large a file is; None when it is not there, empty, or no plain file: a link, say."""
    try:
        found = (folder / FILES[name][0]).lstat()
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) and found.st_size else None


def _shape(folder: Path) -> tuple[int, int] | None:
    """Read the width and height of the screenshot, a PNG, from its head."""
    number = open_file(folder, "screenshot")
    if number is None:
        return None
    with os.fdopen(number, "rb") as file:
        head = file.read(24)
    if not head.startswith(b"\x89PNG\r\n\x1a\n") or len(head) < 24:
        return None
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def _moment(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None) if moment and moment.tzinfo else None


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _console(text: str) -> list[tuple[str, str, str]]:
    lines = re.split(r"\n(?! {10}\|)", text.rstrip("\n"))
    parsed = [_CONSOLE.fullmatch(line) for line in lines[:MOST_LINES] if line.strip()]
    return [(found[1], found[2], found[3]) for found in parsed if found]


def _requests(network: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for kind in ("responses", "failed_requests", "pending"):
        rows = network.get(kind)
        known = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        found += [
            {**row, "is_bad": _is_bad(kind, row), "took": _took(row), "size": _length(row)}
            for row in known
        ]
    return sorted(found, key=lambda row: _number(row.get("at")))


def _is_bad(kind: str, row: dict[str, Any]) -> bool:
    return kind != "responses" or _number(row.get("status")) >= 400


def _took(row: dict[str, Any]) -> float | None:
    """Tell how long an answer took, to its head, where that was recorded."""
    took = row.get("took")
    return float(took) if isinstance(took, int | float) and 0 <= took < MOST_SECONDS else None


def _length(row: dict[str, Any]) -> int | None:
    """Tell how large an answer said it was."""
    headers = row.get("headers")
    told = str(headers.get("content-length", "")) if isinstance(headers, dict) else ""
    return int(told) if re.fullmatch(r"[0-9]{1,15}", told) else None


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
