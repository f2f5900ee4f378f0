"""Lists of jobs by what they are: newest or oldest first, from where the page before ended.

Rows are read in windows by an index, so that a page costs the same wherever it begins. A filter
that finds little reads on, window by window, until the page is full or the jobs are over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from worker.database.client import Database, Row
from worker.models import Status

WINDOW = 1_000
NEWEST, OLDEST = "newest", "oldest"
_FIRST, _LAST = -(2**63) + 1, 2**63 - 1
# By what rows are found, and in which order.
_QUERIES = {
    ("id", NEWEST): "listed_by_id_newest",
    ("id", OLDEST): "listed_by_id_oldest",
    ("state", NEWEST): "listed_by_state_newest",
    ("state", OLDEST): "listed_by_state_oldest",
    ("batch", NEWEST): "listed_by_batch_newest",
    ("batch", OLDEST): "listed_by_batch_oldest",
}
# Of these there are few, and the index of states finds them.
_FEW = (Status.IN_PROGRESS.value, Status.ERROR.value)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which jobs; None asks nothing."""

    statuses: tuple[str, ...] = ()
    task: str | None = None
    queue: str | None = None
    site: str | None = None
    profile: str | None = None
    batch: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def params(self) -> dict[str, Any]:
        """Give them as the queries want them."""
        return {
            "any_status": not self.statuses,
            "statuses": self.statuses or ("",),
            "task": self.task,
            "queue": self.queue,
            "site": None if self.site is None else self.site.lower().removeprefix("www."),
            "profile": self.profile,
            "batch": self.batch,
            "since": self.since,
            "until": self.until,
        }

    @property
    def source(self) -> str:
        """By what the rows are found: the batch, the state, or all of them by their ids."""
        if self.batch is not None:
            return "batch"
        is_rare = bool(self.statuses) and set(self.statuses) <= set(_FEW)
        return "state" if is_rare else "id"


def read(
    db: Database,
    wanted: Wanted,
    *,
    order: str = NEWEST,
    after: int | None = None,
    limit: int | None = None,
) -> Iterator[Row]:
    """Yield the jobs that are meant, one by one, from behind an id on, `limit` at most."""
    is_newest = order == NEWEST
    window = WINDOW if wanted != Wanted() or limit is None else min(limit, WINDOW)
    name = _QUERIES[wanted.source, order]
    cursor = after if after is not None else (_LAST if is_newest else _FIRST)
    given = 0
    while True:
        rows = db.fetch_all(name, **wanted.params(), after=cursor, window=window)
        for row in rows:
            if not row["is_meant"]:
                continue
            yield row
            given += 1
            if limit is not None and given >= limit:
                return
        if len(rows) < window:
            return
        cursor = rows[-1]["id"]
