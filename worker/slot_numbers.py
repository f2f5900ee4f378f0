"""The numbers of slots: by the flags that give them, and as text such as `0-2,5`."""

from __future__ import annotations

from collections.abc import Collection

from worker.errors import UsageError

SLOT_CHOICES = ("fixed", "auto", "indexed")


def total_of(
    slots: str, workers: int, offset: int, total: int | None, *, helps: bool
) -> int | None:
    """Say of how many slots the run has some; None where hosts share as many as they bring.

    Raises UsageError, saying what to give instead.
    """
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
