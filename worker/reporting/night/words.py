"""How a report writes figures and times: `341 (0.7 %)`, `3.9 s`, `44 s`, `Sat 23:10:02`."""

from __future__ import annotations

from datetime import datetime

from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import one_line
from worker.reporting.night.window import Window

LONGEST = 300


def counted(number: int, noun: str) -> str:
    """Write `1 job`, `2 jobs` or `1,000 jobs`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def clean(text: str, longest: int = LONGEST) -> str:
    """Make a stranger's text one line without secrets, cut when too long."""
    line = one_line(redact_text(text[: 10 * longest])).strip()
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def span(seconds: float) -> str:
    """Write how long something lasted: `44 s`, `6 min`, `2 h 05 min`, `3 d 4 h`."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min"
    if whole < 172_800:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"


def took(seconds: float | None) -> str:
    """Write how long a job took: `3.9 s`, `58 s`, `4 min 20 s`."""
    if seconds is None:
        return "–"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"
    return span(seconds)


def share(part: float, whole: float) -> str:
    """Write a part with its share: `341 (0.7 %)`; a share alone says nothing."""
    if not whole or not part:
        return f"{part:,.0f}"
    value = 100 * part / whole
    text = f"{value:.1f}" if value < 10 else f"{value:.0f}"
    return f"{part:,.0f} ({'under 0.1' if text == '0.0' else text} %)"


def size(count: float) -> str:
    """Write a number of bytes as `740 B`, `12.0 MB` or `5.0 GB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def clock(window: Window, moment: datetime, seconds: bool = False) -> str:
    """Write the time of day, with the weekday where the night is longer than a day."""
    local = window.local(moment)
    day = "%a " if (window.end - window.start).total_seconds() > 86_400 else ""
    return local.strftime(f"{day}%H:%M:%S" if seconds else f"{day}%H:%M")


def day_and_clock(window: Window, moment: datetime) -> str:
    """Write `Sat 23:10:02`."""
    return f"{window.local(moment):%a %H:%M:%S}"


def name_of(window: Window) -> str:
    """Name the night: `night of Saturday 31 January 2026 · run 118 on night-1`."""
    began = window.local(window.start)
    text = f"night of {began:%A} {began.day} {began:%B %Y}"
    if not 15 <= began.hour <= 23:
        text = f"{began:%A} {began.day} {began:%B %Y} from {began:%H:%M}"
    if len(window.runs) == 1:
        run = window.runs[0]
        return f"{text} · run {run.run_id} on {clean(run.host, 60)}"
    if not window.runs:
        return text
    numbers = [run.run_id for run in window.runs]
    return f"{text} · {len(numbers)} runs, {min(numbers)} to {max(numbers)}"
