"""The numbers of workers and slots: by the flags that give them, and as text such as `0-2,5`."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from worker.errors import UsageError

SLOT_CHOICES = ("fixed", "auto", "indexed")
# Each has a browser of some 200 MB: beyond this, a zero too many was typed.
MOST_WORKERS = 1000
# Without MAX: this many pages, which mostly wait, keep a core busy.
MOST_PER_CORE = 16


class AutoWorkers(int):
    """The most workers of a run that finds out itself how many it should have."""


def cores() -> int:
    """Count the machine's processors."""
    return os.cpu_count() or 2


def workers_of(text: str) -> int:
    """Read `6`, `auto` or `auto:12`; raises ValueError for anything else."""
    found = re.fullmatch(r"\s*(?:(auto)(?::(\d+))?|(-?\d+))\s*", text.lower())
    if found is None:
        raise ValueError(f"{text[:20]!r} is no number of workers; write 6, auto or auto:12")
    if found[1] is None:
        return int(found[3])
    return AutoWorkers(found[2] or min(MOST_PER_CORE * cores(), MOST_WORKERS))


def total_of(
    slots: str, workers: int, offset: int, total: int | None, *, helps: bool
) -> int | None:
    """Say of how many slots the run has some; None where hosts share as many as they bring.

    Raises UsageError, saying what to give instead.
    """
    if isinstance(workers, AutoWorkers):
        _check_auto(slots, offset, total in (None, workers), helps=helps)
    if slots == "auto":
        if offset:
            raise UsageError("--slots auto finds the slots by itself; leave --offset away")
        if not helps:
            raise UsageError(
                "--slots auto needs workers that help each other while hosts come and go; "
                "leave --no-help away"
            )
        return total
    if total is None and slots == "indexed":
        raise UsageError("--slots indexed needs --total: --workers times the number of hosts")
    total = workers if total is None else total
    if offset + workers > total:
        last = offset + workers - 1
        raise UsageError(
            f"--offset {offset} with --workers {workers} needs slots {offset}..{last}, but "
            f"--total {total} has only 0..{total - 1}; raise --total or lower --offset"
        )
    return total


def _check_auto(slots: str, offset: int, has_all: bool, *, helps: bool) -> None:
    if not helps:
        raise UsageError(
            "--workers auto lets workers rest, and the others do their jobs; leave --no-help away"
        )
    if slots != "auto" and (slots == "indexed" or offset or not has_all):
        raise UsageError(
            "--workers auto has a number that changes; hosts that share a queue need --slots auto "
            "for that, without --offset"
        )


def slots_text(slots: Collection[int]) -> str:
    """Write slots as people do: `0-2,5`."""
    parts: list[list[int]] = []
    for slot in sorted(slots):
        if parts and parts[-1][-1] == slot - 1:
            parts[-1][1:] = [slot]
        else:
            parts.append([slot])
    return ",".join("-".join(map(str, part)) for part in parts)


def slots_in(text: str) -> tuple[int, ...]:
    """Read what `slots_text` has written."""
    ends = [part.split("-") for part in text.split(",") if part]
    return tuple(slot for each in ends for slot in range(int(each[0]), int(each[-1]) + 1))
