"""Dead letters: list the jobs in error by group; retry, discard or mute them.

A scope ends at the database's time when it was made: jobs that fail later are not in it.
Changes are made in small guarded transactions, so a killed command can simply be run again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from worker.database.client import Database, Row
from worker.errors import UsageError
from worker.flags import parse_duration
from worker.history import archive
from worker.history.archive import EARLIEST, Label, ago, now
from worker.reasons import NO_REASON, last_error_line

AT_ONCE = 500
PAGE = 5000
FILTER_HELP = "task=NAME, site=HOST, older-than=6h, newer-than=1d, reason~TEXT (must come last)"

_CONDITION = re.compile(r"\s*(task|site|older-than|newer-than)\s*=\s*([^,]+?)\s*(?:,|$)")
_REASON = re.compile(r"\s*reason\s*~\s*(.+?)\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions for jobs in error; a job must meet all of them."""

    task: str | None = None
    site: str | None = None
    older_than_seconds: float = 0.0
    newer_than_seconds: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """Which jobs to change: a whole group, those that match a filter, or those with these ids."""

    until: datetime
    group: str | None = None
    ids: tuple[int, ...] = ()
    filter: Filter | None = None
    # Whether jobs that may be half done are among them.
    half_done: bool = True


@dataclass(frozen=True, slots=True)
class Count:
    """How many jobs are in a scope, and how many were left out and why.

    Left out: because their group is muted, or because they may be half done and nobody has said
    that they are meant too.
    """

    jobs: int
    muted: int = 0
    half_done: int = 0


def groups(db: Database, new_since: datetime, *, since_seconds: float | None = None) -> list[Row]:
    """List the groups of jobs that are in error now, the largest first.

    One is new that was first seen since a moment, which `reporting.nights` tells.
    """
    since = EARLIEST if since_seconds is None else ago(now(db), since_seconds)
    rows = db.fetch_all("failure_groups_now", since=since, new_since=new_since)
    known_of_sample = ("reason", "outcome", "last_error")
    return [
        {name: value for name, value in row.items() if name not in known_of_sample}
        | {"label": label_of(row)}
        for row in rows
    ]


def groups_of_run(
    db: Database, run_id: int, limit: int, new_since: datetime
) -> list[dict[str, Any]]:
    """List the largest groups of jobs that failed since a run began, ready for JSON."""
    rows = db.fetch_all("failure_groups_of_run", run_id=run_id, limit=limit, new_since=new_since)
    return [
        {
            "group": row["fingerprint"],
            "jobs": int(row["jobs"]),
            "label": row["label"],
            "is_new": bool(row["is_new"]),
        }
        for row in rows
    ]


def label_of(row: Row) -> str:
    """Say what the jobs of a group have in common, or what else is known where nobody noted it.

    The row has the group's label, and outcome, reason and error of one of its jobs.
    """
    if known := row["label"] or row["reason"] or last_error_line(row["last_error"]):
        return str(known)[:255]
    ending = f"{row['outcome'].replace('_', ' ')}; " if row["outcome"] else ""
    return f"{ending}{NO_REASON}"


def find_group(db: Database, prefix: str) -> Row:
    """Find the group whose fingerprint has this prefix; raises UsageError for none or several."""
    if not re.fullmatch(r"[0-9A-Za-z]{1,16}", prefix):
        raise UsageError(f"{prefix!r} is not a group's name; list them: launcher.py errors")
    found = db.fetch_all("failure_groups_like", pattern=f"{prefix}%")
    if not found:
        raise UsageError(f"no group's name begins with {prefix}; list them: launcher.py errors")
    if len(found) > 1 and found[0]["fingerprint"] != prefix:
        names = ", ".join(row["fingerprint"] for row in found)
        raise UsageError(f"several groups begin with {prefix}: {names}; give more characters")
    return found[0]


def jobs_of_group(db: Database, fingerprint: str, limit: int) -> list[Row]:
    """List the newest jobs in error of a group, with the reason and evidence of each."""
    return db.fetch_all("dead_letters_of_group", fingerprint=fingerprint, limit=limit)


def mute(db: Database, fingerprint: str, *, by: str, reason: str) -> None:
    """Leave a group out of the lists and of filters until it is unmuted."""
    db.execute("mute_group", fingerprint=fingerprint, by=by[:255], reason=reason[:255])


def unmute(db: Database, fingerprint: str) -> bool:
    """Show a group again; return whether it had been muted."""
    return db.execute("unmute_group", fingerprint=fingerprint) > 0


def parse_filter(text: str) -> Filter:
    """Read `task=visit,older-than=6h,reason~timeout`; raises UsageError for anything else."""
    found: dict[str, str] = {}
    rest = text
    while rest.strip():
        if said := _REASON.match(rest):
            found["reason"] = said[1]
            break
        condition = _CONDITION.match(rest)
        if condition is None:
            raise UsageError(f"--filter: {rest.strip()!r} is not understood; write {FILTER_HELP}")
        if condition[1] in found:
            raise UsageError(f"--filter names {condition[1]} twice; name it once")
        found[condition[1]] = condition[2]
        rest = rest[condition.end() :]
    if not found:
        raise UsageError(f"--filter is empty; write {FILTER_HELP}")
    return Filter(
        task=found.get("task"),
        site=found["site"].lower().removeprefix("www.") if "site" in found else None,
        older_than_seconds=_seconds(found, "older-than") or 0.0,
        newer_than_seconds=_seconds(found, "newer-than"),
        reason=found.get("reason"),
    )


def states(db: Database, ids: Sequence[int]) -> dict[int, Row]:
    """Return the status of each of these jobs that is in the queue, and its irreversible step."""
    return {row["id"]: row for row in db.fetch_all("states_of_jobs", ids=tuple(ids))}


def count(db: Database, scope: Scope) -> Count:
    """Count the jobs of a scope."""
    if scope.ids:
        rows = [row for row in states(db, scope.ids).values() if row["status"] == "error"]
        half_done = sum(row["irreversible_step"] is not None for row in rows)
        return _count(scope, len(rows), half_done)
    if scope.group is not None:
        row = db.fetch_all("count_group", fingerprint=scope.group, until=scope.until)[0]
        return _count(scope, int(row["jobs"]), int(row["half_done"]))
    row = db.fetch_all("count_filtered", **_conditions(scope))[0]
    return _count(scope, int(row["jobs"]), int(row["half_done"]), int(row["muted"]))


def _count(scope: Scope, jobs: int, half_done: int, muted: int = 0) -> Count:
    return Count(jobs, muted) if scope.half_done else Count(jobs - half_done, muted, half_done)


def retry(db: Database, scope: Scope, *, limit: int | None = None) -> int:
    """Put the scope's jobs back to pending with fresh budgets, oldest first; return how many."""
    return sum(
        db.execute(
            "retry_dead_letters", ids=tuple(ids), until=scope.until, half_done=scope.half_done
        )
        for ids in chunks(db, scope, limit)
    )


def repeat_done(db: Database, ids: Sequence[int], until: datetime) -> int:
    """Put done jobs back to be done again; return how many."""
    return db.execute("repeat_done_jobs", ids=tuple(ids), until=until)


def discard(db: Database, scope: Scope, label: Label, *, limit: int | None = None) -> int:
    """Move the scope's jobs to the archive, oldest first; return how many."""
    return sum(
        archive.move(db, ids, label, until=scope.until, statuses=("error",)).jobs
        for ids in chunks(db, scope, limit)
    )


def chunks(db: Database, scope: Scope, limit: int | None) -> Iterator[list[int]]:
    """Yield the scope's job ids in order, in chunks; with a limit, only that many."""
    left = float("inf") if limit is None else limit
    for page in [list(scope.ids)] if scope.ids else _pages(db, scope):
        for start in range(0, len(page), AT_ONCE):
            ids = page[start : start + AT_ONCE]
            ids = ids if len(ids) <= left else ids[: int(left)]
            if not ids:
                return
            left -= len(ids)
            yield ids


def _pages(db: Database, scope: Scope) -> Iterator[list[int]]:
    after = 0
    while True:
        if scope.group is not None:
            rows = db.fetch_all(
                "group_page",
                fingerprint=scope.group,
                until=scope.until,
                after=after,
                limit=PAGE,
                half_done=scope.half_done,
            )
        else:
            rows = db.fetch_all("filtered_page", **_conditions(scope), after=after, limit=PAGE)
        if not rows:
            return
        after = rows[-1]["id"]
        yield [row["id"] for row in rows if row["is_meant"]]


def _conditions(scope: Scope) -> dict[str, Any]:
    wanted = scope.filter or Filter()
    newer = wanted.newer_than_seconds
    reason = None
    if wanted.reason is not None:
        escaped = re.sub(r"([\\%_])", r"\\\1", wanted.reason.lower())
        reason = f"%{escaped}%"
    return {
        "task": wanted.task,
        "site": wanted.site,
        "since": EARLIEST if newer is None else ago(scope.until, newer),
        "until": ago(scope.until, wanted.older_than_seconds),
        "reason": reason,
        "half_done": scope.half_done,
    }


def _seconds(found: dict[str, str], name: str) -> float | None:
    if name not in found:
        return None
    try:
        return parse_duration(found[name])
    except ValueError as error:
        raise UsageError(f"--filter {name}: {error}") from None
