"""Queues and batches of a night as plain tables, which each format writes in its own way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from worker.reporting.night.model import Night
from worker.reporting.night.words import clean, day_and_clock, span

LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a name in each row, and figures beside it; `note` is a sentence below."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def of(night: Night) -> Iterator[Table]:
    """Give the tables that have something in them."""
    if night.queues:
        yield _queues(night)
    if night.batches.ended or night.batches.open:
        yield _batches(night)


def _queues(night: Night) -> Table:
    has_left = any(queue.left is not None for queue in night.queues)
    heads = ("Queue", "Done", "Failed", *(["Left"] if has_left else []))
    rows = []
    for queue in night.queues:
        more = "" if queue.is_whole else "+"
        left = [f"{queue.left or 0:,}{more}"] if has_left else []
        done, failed = f"{queue.done:,}{more}", f"{queue.failed:,}{more}"
        rows.append((clean(queue.name, LONGEST_NAME), done, failed, *left))
    is_whole = all(queue.is_whole for queue in night.queues)
    note = "" if is_whole else "+: counted for a few seconds only; there are more."
    return Table("Queues", heads, tuple(rows), note)


def _batches(night: Night) -> Table:
    told = night.batches
    rows = tuple(
        (
            clean(each.name, LONGEST_NAME),
            day_and_clock(night.window, each.finished_at),
            span(each.seconds),
            f"{each.done:,}",
            f"{each.failed:,}" + (f", {each.cancelled:,} cancelled" if each.cancelled else ""),
        )
        for each in told.ended
    )
    notes = []
    if told.of_all > len(told.ended):
        notes.append(f"The latest {len(told.ended)} of {told.of_all:,} finished batches.")
    if told.open:
        is_open = "is" if told.open == 1 else "are"
        more = "" if not told.ended else " more"
        notes.append(f"{told.open:,}{more} {is_open} open.")
    heads = ("Batch", "Finished", "After", "Done", "Failed")
    return Table("Batches", heads, rows, " ".join(notes))
