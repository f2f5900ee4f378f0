"""The columns of an exported CSV file: which there are, and what stands in a job's cells.

To add a column of the job itself, add it to JOB_COLUMNS; `finished_jobs` in sql/queries reads it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

JOB_COLUMNS = ("id", "task", "status", "attempts", "finished_at")
# What the last attempt really used: columns of their own if any job used such a thing.
ROUTE_COLUMNS = ("used_profile", "used_account", "used_proxy")
# A spreadsheet would run a cell that begins with one of these as a formula; some read wide ones.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

Job = dict[str, Any]


class LateKeys:
    """Watch for keys of results that appear after the header was written and have no column."""

    def __init__(self, known: Iterable[str], tell: Callable[[str], None]) -> None:
        self._known = {*known, "url"}
        self._tell = tell

    def watch(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Pass the jobs on; report each key that is left out once."""
        for job in jobs:
            if new := {*route_keys(job), *result_keys([job])} - self._known:
                self._known |= new
                self._tell(
                    f"job {job['id']} has {', '.join(sorted(new))}, which the CSV header lacks; it "
                    f"is left out from here on. Export again, or name it with --columns"
                )
            yield job


def header(columns: list[str]) -> list[str]:
    """Return the first line of the file: the job's own columns, its URL, and the others."""
    return [*JOB_COLUMNS, "url", *columns]


def learn(jobs: Iterable[Job], statuses: Iterable[str]) -> list[str]:
    """Return one column for each key of the results, the reason and the route where there may be.

    The reason is there when jobs may have failed, profile, account and proxy when one was used.
    """
    first = ["reason"] if "error" in statuses else []
    routes: set[str] = set()
    found: dict[str, None] = {}
    for job in jobs:
        routes.update(route_keys(job))
        found.update(dict.fromkeys(result_keys([job])))
    return list(dict.fromkeys([*first, *(n for n in ROUTE_COLUMNS if n in routes), *found]))


def named(text: str) -> list[str]:
    """Read the columns that a person has named, separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def values(job: Job, columns: list[str]) -> list[Any]:
    """Return what a job has in each column: from its result, else its payload, else its row."""
    payload = job["payload"] if isinstance(job["payload"], dict) else {}
    result = job["result"] if isinstance(job["result"], dict) else {"result": job["result"]}
    if job["status"] == "error":
        result = {**result, "reason": job["reason"]}
    # No result can hide what the job really used.
    result = {**result, **{name: job[name] for name in route_keys(job)}}
    own = [*(job[name] for name in JOB_COLUMNS), payload.get("url", "")]
    return own + [result.get(name, payload.get(name, job.get(name, ""))) for name in columns]


def cell(value: Any, *, is_raw: bool) -> Any:
    """Write lists and objects as JSON; keep a page's text from being run by a spreadsheet."""
    if value is None:
        return ""
    if isinstance(value, dict | list | bool):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and not is_raw and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


def route_keys(job: Job) -> list[str]:
    """List what of profile, account and proxy a job used."""
    return [name for name in ROUTE_COLUMNS if job.get(name) is not None]


def result_keys(jobs: Iterable[Job]) -> list[str]:
    """List the keys of results as they first appear, without the URL, which has its own column."""
    keys: dict[str, None] = {}
    for job in jobs:
        result = job["result"]
        if result is not None:
            keys.update(dict.fromkeys(result if isinstance(result, dict) else ["result"]))
    keys.pop("url", None)
    return list(keys)
