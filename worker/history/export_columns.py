"""The columns of an export: which there are, what they are called, what a job has in each.

To add a column of the job itself, add it to JOB_FIELDS, and to JOB_COLUMNS if it is shown unasked;
`finished_jobs` and `finished_and_archived_jobs` (sql/queries/history/results.sql) read it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from worker.errors import UsageError

JOB_COLUMNS = ("id", "task", "status", "attempts", "finished_at")
# What the last attempt really used: columns of their own if any job used such a thing.
ROUTE_COLUMNS = ("used_profile", "used_account", "used_proxy")
# Whatever `--columns` may take from the job itself. `row` is there with `--rows` alone.
JOB_FIELDS = (
    *JOB_COLUMNS, *ROUTE_COLUMNS,
    "reason", "last_error", "created_at", "started_at", "archived_at", "payload", "row",
)  # fmt: skip
PREFIXES = ("job", "payload", "result")
# A spreadsheet would run a cell that begins with one of these as a formula; some read wide ones.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

Job = dict[str, Any]


@dataclass(slots=True)
class Columns:
    """The columns that an export has by itself: the job's own, and the keys of its results.

    A key that is called as a column of the job gets the prefix `result.`.
    """

    own: list[str]
    _found: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, statuses: Iterable[str], *, by_rows: bool) -> Columns:
        """Begin with what every export of these statuses has; failed jobs have a reason."""
        rows = ["row"] if by_rows else []
        return cls([*JOB_COLUMNS, "url", *rows, *(["reason"] if "error" in statuses else [])])

    def learn(self, jobs: Iterable[Job]) -> Columns:
        """Take in what these jobs have."""
        for job in jobs:
            self._found.update(dict.fromkeys(self.of_job(job)))
        return self

    def of_job(self, job: Job) -> Iterator[str]:
        """Name the columns that a job has beside those that all have."""
        yield from (name for name in ROUTE_COLUMNS if job.get(name) is not None)
        result = job["result"]
        if not isinstance(result, dict):
            yield from ["result"] if result is not None else []
            return
        for key in result:
            if key == "url" and result[key] == payload_of(job).get("url"):
                continue
            yield f"result.{key}" if key in self.own or key in ROUTE_COLUMNS else key

    @property
    def names(self) -> list[str]:
        """Return all of them, the job's own first."""
        routes = [name for name in ROUTE_COLUMNS if name in self._found]
        return [*self.own, *routes, *(name for name in self._found if name not in routes)]


class LateKeys:
    """Watch for what appears after the header was written and has no column."""

    def __init__(self, columns: Columns, tell: Callable[[str], None]) -> None:
        self._columns = columns
        self._known = set(columns.names)
        self._tell = tell

    def watch(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Pass the jobs on; report each key that is left out once."""
        for job in jobs:
            if new := set(self._columns.of_job(job)) - self._known:
                self._known |= new
                self._tell(
                    f"job {job['id']} has {', '.join(sorted(new))}, which the CSV header lacks; it "
                    f"is left out from here on. Export again, or name it with --columns"
                )
            yield job


def named(text: str) -> list[str]:
    """Read the columns that a person has named, separated by commas; each is given once."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise UsageError("--columns names no column; write --columns id,url,price")
    return names


def check(names: Iterable[str], jobs: Iterable[Job]) -> None:
    """Raise UsageError for a name that is in no job; where there is no job, any may be right."""
    missing = dict.fromkeys(names)
    known: dict[str, None] = {}
    for job in jobs:
        for name in _names_in(job):
            known[name] = None
            missing.pop(name, None)
        if not missing:
            return
    if missing and known:
        name = next(iter(missing))
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {_some(known)}"
        raise UsageError(f"--columns: no job has {name}; {hint}")


def value(job: Job, name: str) -> Any:
    """Return what a job has in a column: from the job, else its result, else its payload."""
    prefix, dot, key = name.partition(".")
    result = job["result"] if isinstance(job["result"], dict) else {}
    if dot and prefix in PREFIXES:
        source = {"job": job, "payload": payload_of(job), "result": result}[prefix]
        if key in source:
            return source[key]
    if name == "result":
        return result.get(name) if name in result else job["result"]
    if name == "url":
        return payload_of(job).get(name, result.get(name))
    # No result can hide what the job itself says; a job that is done has no reason of its own.
    if name in JOB_FIELDS and name in job and (name != "reason" or job["status"] == "error"):
        return job[name]
    return result.get(name, payload_of(job).get(name))


def cell(value: Any, *, is_raw: bool) -> Any:
    """Write lists and objects as JSON; keep a page's text from being run by a spreadsheet."""
    if value is None:
        return ""
    if isinstance(value, dict | list | bool):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and not is_raw and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


def payload_of(job: Job) -> dict[str, Any]:
    """Return the payload's fields; plain SQL may have put anything there."""
    return job["payload"] if isinstance(job["payload"], dict) else {}


def _names_in(job: Job) -> Iterator[str]:
    yield from ("url", "result")
    for name in JOB_FIELDS:
        if name in job:
            yield from (name, f"job.{name}")
    for prefix, source in (("result", job["result"]), ("payload", payload_of(job))):
        if isinstance(source, dict):
            for key in source:
                yield from (key, f"{prefix}.{key}")


def _some(names: Iterable[str]) -> str:
    shown = [name for name in names if "." not in name]
    return ", ".join(shown[:20]) + (" and more" if len(shown) > 20 else "")
