"""Done, but look twice: results that are empty, or far smaller than the task's own ever were.

A task is held against its own results before the night, never against another's. Of many results
a sample is read, spread over the whole night.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from worker.database.client import Database, Row
from worker.installation import command_line
from worker.reporting.night.model import Doubt
from worker.reporting.night.window import Window
from worker.reporting.night.words import clean

SAMPLE = 2_000
# Index entries that a sample is taken from, of what came before the night.
HISTORY = 200_000
HISTORY_DAYS = 30
# Texts of more characters hold something.
LONGEST_EMPTY = 400
LEAST_HISTORY = 20
LEAST_COUNT = 3
# How much more often than usual a result must be odd, and in which share of all results at least.
MORE_OFTEN, LEAST_SHARE = 5.0, 0.01
MOST_DOUBTS = 10


@dataclass(frozen=True, slots=True)
class Result:
    """One result, by what can be doubted of it."""

    job_id: int
    site: str | None
    at: datetime
    size: int
    is_empty: bool


def doubts(db: Database, window: Window, done: int) -> list[Doubt]:
    """List the tasks whose results of the night are doubtful, the most numerous first."""
    every = max(1, -(-done // SAMPLE))
    tonight = _by_task(_read(db, window.start, window.end, every, SAMPLE * 2))
    if not tonight:
        return []
    since = window.start - timedelta(days=HISTORY_DAYS)
    before = _by_task(_read(db, since, window.start, max(1, HISTORY // SAMPLE // 4), SAMPLE))
    if any(len(before.get(task, ())) < LEAST_HISTORY for task in tonight):
        # A short history, or a rare task in it: then the latest of it are read, every one.
        latest = _by_task(_read(db, since, window.start, 1, SAMPLE))
        before = {
            task: max(before.get(task, []), latest.get(task, []), key=len) for task in tonight
        }
    found = []
    for task, results in tonight.items():
        history = before.get(task, [])
        if len(history) >= LEAST_HISTORY:
            found += _of_task(task, results, history, every, window)
    return sorted(found, key=lambda doubt: -doubt.count)[:MOST_DOUBTS]


def is_empty(value: Any, depth: int = 20) -> bool:
    """Tell whether a result holds nothing: no text, no number, no flag anywhere in it."""
    if value is None or value == "":
        return True
    if isinstance(value, dict):
        return depth > 0 and all(is_empty(each, depth - 1) for each in value.values())
    if isinstance(value, list):
        return depth > 0 and all(is_empty(each, depth - 1) for each in value)
    return isinstance(value, str) and not value.strip()


def _of_task(
    task: str, results: Sequence[Result], history: Sequence[Result], every: int, window: Window
) -> list[Doubt]:
    full = sorted(result.size for result in history if not result.is_empty)
    tests: dict[str, Callable[[Result], bool]] = {"empty": lambda result: result.is_empty}
    if len(full) >= LEAST_HISTORY:
        # Half of what all but a twentieth of the former results had at least.
        small = full[len(full) // 20] / 2
        tests["shrunken"] = lambda result: not result.is_empty and result.size < small
    found = []
    for kind, is_doubtful in tests.items():
        hits = [result for result in results if is_doubtful(result)]
        usual = sum(map(is_doubtful, history)) / len(history)
        share = len(hits) / len(results)
        if len(hits) >= LEAST_COUNT and share >= max(LEAST_SHARE, MORE_OFTEN * usual):
            found.append(_doubt(task, kind, hits, len(results), usual, every, window))
    return found


def _doubt(
    task: str, kind: str, hits: list[Result], of: int, usual: float, every: int, window: Window
) -> Doubt:
    sites = {result.site for result in hits}
    first = min(result.at for result in hits)
    since = f"{window.local(first):%Y-%m-%dT%H:%M}"
    name = clean(task, 64)
    return Doubt(
        task=name,
        kind=kind,
        count=len(hits) * every,
        is_estimate=every > 1,
        of=of * every,
        usual_share=usual,
        first=first,
        site=clean(site, 100) if len(sites) == 1 and (site := next(iter(sites))) else None,
        sample_job=hits[0].job_id,
        command=command_line("export", "--task", name, "--since", since),
    )


def _read(db: Database, start: datetime, end: datetime, every: int, most: int) -> list[Row]:
    return db.fetch_all(
        "night_results", start=start, end=end, every=every, limit=most, longest=LONGEST_EMPTY
    )


def _by_task(rows: list[Row]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = defaultdict(list)
    for row in rows:
        size = int(row["size"] or 0)
        found[row["task"]].append(
            Result(row["id"], row["site"], row["finished_at"], size, _holds_nothing(row))
        )
    return found


def _holds_nothing(row: Row) -> bool:
    if row["size"] is None:
        return True
    if row["result"] is None:
        return False
    try:
        return is_empty(json.loads(row["result"]))
    except ValueError:
        return False
