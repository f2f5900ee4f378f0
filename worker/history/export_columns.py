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
FORMULA_STARTS = frozenset("=+-@\t\r\n＝＋－＠")

Job = dict[str, Any]


@dataclass(slots=True)
class Columns:
    """The columns that an export has by itself: the job's own, and the keys of its results.

    A key that is called as a column of the job gets the prefix `result.`.
    """

    own: list[str]
    _found: dict[str, None] = field(default_factory=dict)
    # The keys of results that have their columns.
    _keys: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, statuses: Iterable[str], *, by_rows: bool) -> Columns:
        """Begin with what every export of these statuses has; failed jobs have a reason."""
        rows = ["row"] if by_rows else []
        return cls([*JOB_COLUMNS, "url", *rows, *(["reason"] if "error" in statuses else [])])

    def learn(self, jobs: Iterable[Job]) -> Columns:
        """Take in what these jobs have."""
        for job in jobs:
            if not self.has_all_of(job):
                self._found.update(dict.fromkeys(self.of_job(job)))
                if isinstance(job["result"], dict):
                    # Whether a `url` needs a column is another question for each job.
                    self._keys |= job["result"].keys() - {"url"}
        return self

    def has_all_of(self, job: Job) -> bool:
        """Tell at little cost whether a job brings nothing new, as nearly every one does not.

        False says only that one has to look.
        """
        result = job["result"]
        return (
            isinstance(result, dict)
            and result.keys() <= self._keys
            and job.get("used_profile") is job.get("used_account") is job.get("used_proxy") is None
        )

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
            has_news = not self._columns.has_all_of(job)
            if has_news and (new := set(self._columns.of_job(job)) - self._known):
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


def reader(name: str) -> Callable[[Job], Any]:
    """Give what reads a column of any job: from the job, else its result, else its payload.

    What the name means is found out once, not for each of a million jobs.
    """
    prefix, dot, key = name.partition(".")
    if dot and prefix in PREFIXES:
        return _reader_of_part(name, prefix, key)
    if name == "result":
        return _read_result
    if name == "url":
        return _read_url
    # No result can hide what the job itself says; a job that is done has no reason of its own.
    if name == "reason":
        found = _reader_of_key(name)
        return lambda job: job[name] if name in job and job["status"] == "error" else found(job)
    if name in JOB_FIELDS:
        found = _reader_of_key(name)
        return lambda job: job[name] if name in job else found(job)
    return _reader_of_key(name)


def _reader_of_key(name: str) -> Callable[[Job], Any]:
    def read(job: Job) -> Any:
        result = job["result"]
        if isinstance(result, dict) and name in result:
            return result[name]
        return payload_of(job).get(name)

    return read


def _reader_of_part(name: str, part: str, key: str) -> Callable[[Job], Any]:
    found = _reader_of_key(name)

    def read(job: Job) -> Any:
        source = job if part == "job" else job[part]
        return source[key] if isinstance(source, dict) and key in source else found(job)

    return read


def _read_result(job: Job) -> Any:
    result = job["result"]
    return result["result"] if isinstance(result, dict) and "result" in result else result


def _read_url(job: Job) -> Any:
    payload, result = payload_of(job), job["result"]
    if "url" in payload:
        return payload["url"]
    return result.get("url") if isinstance(result, dict) else None


def cell(value: Any, *, is_raw: bool) -> Any:
    """Write lists and objects as JSON; keep a page's text from being run by a spreadsheet."""
    if isinstance(value, str):
        return f"'{value}" if value[:1] in FORMULA_STARTS and not is_raw else value
    if value is None:
        return ""
    if isinstance(value, dict | list | bool):
        return json.dumps(value, ensure_ascii=False)
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
