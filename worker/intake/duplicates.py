"""Which jobs are not added, or would not be, because their dedupe key is taken; and who has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from worker.database.client import Database, Row
from worker.intake.jobs import NewJob

# Keys that are looked for with one statement.
AT_ONCE = 1_000


def watch(
    db: Database, task: str, rows: Iterable[NewJob], *, across_tasks: bool
) -> Iterator[tuple[NewJob, bool]]:
    """Say of each row whether its key is taken: by a job of the queue, or by a row before it.

    Of each key a hash is kept, some 70 bytes; nothing is written.
    """
    seen: set[int] = set()
    remaining = iter(rows)
    while chunk := list(islice(remaining, AT_ONCE)):
        keys = [_compared(row) for row in chunk]
        wanted = [key for key in keys if key is not None]
        held = {row["dedupe_key"].rstrip(" ") for row in holders(db, task, wanted, across_tasks)}
        for row, key in zip(chunk, keys, strict=True):
            mark = hash(key)
            yield row, key is not None and (key in held or mark in seen)
            if key is not None:
                seen.add(mark)


def holders(db: Database, task: str, keys: Sequence[str], across_tasks: bool) -> list[Row]:
    """List the jobs of the queue that have these keys."""
    if not keys:
        return []
    scope = "" if across_tasks else task
    return db.fetch_all("jobs_of_dedupe_keys", keys=tuple(keys), scope=scope)


def _compared(row: NewJob) -> str | None:
    """Return a key as the server compares it: spaces at its end do not count."""
    key = row[1]
    return None if key is None else key.rstrip(" ")
