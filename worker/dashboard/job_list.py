"""Lists of jobs: by state in that state's own order, filtered, searched, one page at a time.

A page reads a bounded number of rows, by an index, from where the one before ended: it costs the
same on page one and on page thousand, with ten jobs and with millions. Where a filter finds little,
the page says how far it has looked, and the next one goes on there.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from worker.database.client import Database, Row
from worker.evidence import masked_job
from worker.intake.dedupe_keys import fitting
from worker.json_text import parse_stored

PAGE = 50
# Rows that one page looks at, where a filter has to read them.
WINDOW = 2_000
LONGEST_SEARCH = 2_000


class State(StrEnum):
    """What to list."""

    ALL = "all"
    READY = "ready"
    WAITING = "waiting"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody asked for, as the address of the page says it."""

    state: State = State.ALL
    task: str = ""
    site: str = ""
    group: str = ""
    text: str = ""
    queue: str = ""
    batch: str = ""
    # Only jobs that this one has added.
    parent: int | None = None
    # Where the page before ended: the key of its last row, as this module writes it.
    after: str = ""

    @property
    def source(self) -> str:
        """By what rows are found: an index of its own, or that of their state."""
        if self.group:
            return "group"
        if self.parent is not None:
            return "parent"
        return "batch" if self.batch else self.state.value

    @property
    def is_filtered(self) -> bool:
        """Whether somebody asked for less than all jobs of a state."""
        return bool(self.task or self.site or self.text or self.queue or self.batch)

    @property
    def reads_others(self) -> bool:
        """Whether rows that are not meant are among those that are read."""
        by_row = bool(self.task or self.site or self.text or self.queue)
        if self.source == "batch":
            return by_row or self.state is not State.ALL
        if self.source == "parent":
            return by_row or bool(self.batch) or self.state is not State.ALL
        return self.is_filtered or self.source == State.DONE.value


@dataclass(frozen=True, slots=True)
class Page:
    """The jobs of one page; `next` is where the next one begins, if there is more."""

    jobs: list[Row]
    next: str = ""
    # How many rows were looked at without the page being full; 0: all there were.
    looked_at: int = 0


def read(db: Database, wanted: Wanted) -> Page:
    """Read one page."""
    name, reach, key, parse = _ORDERS[wanted.source]
    window = WINDOW if wanted.reads_others else PAGE + 1
    params: dict[str, Any] = {
        "window": window,
        "skip": window - 1,
        "limit": PAGE + 1,
        "status": wanted.state.value,
        "group": wanted.group,
        "task": wanted.task or None,
        "site": wanted.site.lower().removeprefix("www.") or None,
        "text": _like(wanted.text),
        "queue": wanted.queue or None,
        "batch": wanted.batch or None,
        "parent": wanted.parent,
        **_of_state(wanted.state),
        **parse(wanted.after),
    }
    rows = db.fetch_all(name, **params)
    jobs = [_masked(row) for row in rows[:PAGE]]
    if len(rows) > PAGE:
        return Page(jobs, key(rows[PAGE - 1]))
    if not wanted.reads_others:
        return Page(jobs)
    end = db.fetch_one(reach, **params)
    return Page(jobs, key(end), window) if end is not None else Page(jobs)


def is_place(wanted: Wanted) -> bool:
    """Whether `after` is a key as this module writes them for such a list."""
    _, _, _, parse = _ORDERS[wanted.source]
    return bool(parse(wanted.after) != parse(""))


def _of_state(state: State) -> dict[str, Any]:
    """Ask for jobs of a state where they are found by something else; None asks nothing."""
    known = {State.READY: ("pending", False), State.WAITING: ("pending", True)}
    status, waits = known.get(state, (None if state is State.ALL else state.value, None))
    return {"of_status": status, "waits": waits}


def named(db: Database, text: str) -> list[Row]:
    """Find the jobs that a search names by id, by dedupe key or by order key."""
    text = text.strip()[:LONGEST_SEARCH]
    if not text:
        return []
    digits = text.replace(",", "").lstrip("#")
    job_id = int(digits) if re.fullmatch(r"\d{1,18}", digits) else None
    rows = db.fetch_all("jobs_named", id=job_id, key=fitting(text), place=f"key:{text[:191]}")
    return [_masked(row) for row in {row["id"]: row for row in rows}.values()]


def _masked(row: Row) -> Row:
    shown, _ = masked_job.masked({**row, "result": None}, [])
    return {**shown, "what": _in_short(shown["payload"])}


def _in_short(payload: str) -> str:
    """Say what a job is about: its URL, or else its payload as it stands."""
    try:
        parsed = parse_stored(payload)
    except (ValueError, RecursionError):
        return payload
    url = parsed.get("url") if isinstance(parsed, dict) else None
    return url if isinstance(url, str) else payload


def _like(text: str) -> str | None:
    if not text.strip():
        return None
    escaped = re.sub(r"([\\%_])", r"\\\1", text.strip()[:LONGEST_SEARCH])
    return f"%{escaped}%"


def _id_of(row: Row) -> str:
    return str(row["id"])


def _by_id(after: str) -> dict[str, Any]:
    return {"before": int(after) if re.fullmatch(r"\d{1,18}", after) else None}


def _rank_of(row: Row) -> str:
    return f"{row['priority']}.{row['id']}"


def _by_rank(after: str) -> dict[str, Any]:
    found = re.fullmatch(r"(-?\d{1,10})\.(\d{1,18})", after)
    priority, job_id = (int(found[1]), int(found[2])) if found else (-(2**31), 0)
    return {"priority": priority, "id": job_id}


def _due_of(row: Row) -> str:
    return f"{row['not_before']:%Y%m%d%H%M%S%f}.{row['id']}"


def _end_of(row: Row) -> str:
    return f"{row['finished_at']:%Y%m%d%H%M%S%f}.{row['id']}"


def _by_time(default: str, after: str) -> dict[str, Any]:
    moment, job_id = datetime.fromisoformat(default), 0
    if found := re.fullmatch(r"(\d{20})\.(\d{1,18})", after):
        with suppress(ValueError):
            moment = datetime.strptime(found[1], "%Y%m%d%H%M%S%f")  # noqa: DTZ007 - as the database
            job_id = int(found[2])
    return {"moment": moment, "id": job_id}


def _by_due(after: str) -> dict[str, Any]:
    return _by_time("1970-01-01", after)


def _by_end(after: str) -> dict[str, Any]:
    return _by_time("9999-01-01", after)


_ORDERS: dict[str, tuple[str, str, Any, Any]] = {
    State.ALL: ("newest_jobs", "newest_jobs_reach", _id_of, _by_id),
    State.READY: ("ready_jobs_in_order", "ready_jobs_in_order_reach", _rank_of, _by_rank),
    State.WAITING: ("waiting_jobs_in_order", "waiting_jobs_in_order_reach", _due_of, _by_due),
    State.IN_PROGRESS: ("jobs_in_status", "jobs_in_status_reach", _id_of, _by_id),
    State.ERROR: ("jobs_in_status", "jobs_in_status_reach", _id_of, _by_id),
    State.DONE: ("done_jobs", "done_jobs_reach", _end_of, _by_end),
    "group": ("jobs_of_group", "jobs_of_group_reach", _id_of, _by_id),
    "batch": ("jobs_of_batch", "jobs_of_batch_reach", _id_of, _by_id),
    "parent": ("jobs_of_parent", "jobs_of_parent_reach", _id_of, _by_id),
}
