"""`launcher.py cancel` and `undiscard`: take unfinished jobs out of the queue, and back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import click

from worker.cli import requeue
from worker.cli.connection import open_database
from worker.cli.jobs import filter_flags, wanted_by
from worker.cli.options import AGE, QUEUE, json_flag
from worker.cli.output import tell, tell_json
from worker.cli.requeue import Plan
from worker.cli.wording import counted, operator
from worker.database.client import Database
from worker.errors import UsageError
from worker.history import archive, cancelling, dead_letters, listing
from worker.history.archive import Label
from worker.history.cancelling import Gone

_IDS = click.option("--id", "ids", type=int, multiple=True, metavar="ID", help="A job; repeatable.")
_YES = click.option("--yes", is_flag=True, help="Do not ask first; required without a terminal.")
_DRY = click.option("--dry-run", is_flag=True, help="Only count the jobs; change nothing.")


@click.command("cancel")
@_IDS
@filter_flags
@click.option("--running", is_flag=True, help="Also jobs that are at work.")
@click.option("--limit", type=click.IntRange(min=1), help="Take at most this many, oldest first.")
@click.option("--reason", help="Why; kept with the jobs.")
@_DRY
@_YES
@json_flag
def cancel(ids: tuple[int, ...], running: bool, reason: str | None, **flags: Any) -> None:
    """Move pending jobs to the archive, so that nobody does them. `undiscard` brings them back.

    With --running a job at work loses its claim: its run stops the task within seconds, and what it
    found is dropped. A job at an irreversible step is left alone.
    """
    by = operator()
    label = Label(by, f"cancelled by {by}" + (f": {reason}" if reason else ""))
    fate = "moved to the archive" + ("; what is at work is stopped within seconds" * running)
    plan = _plan("cancel", fate, flags)
    with closing(open_database()) as db:
        found, left = _to_cancel(db, ids, running, flags)
        _carry_out(plan, found, lambda: cancelling.cancel(db, found, label, running=running), left)


@click.command("undiscard")
@_IDS
@click.option("--task", metavar="NAME", help="Only jobs of this task.")
@click.option("--queue", type=QUEUE, metavar="NAME", help="Only jobs of this queue.")
@click.option("--site", metavar="HOST", help="Only jobs that go to this site.")
@click.option("--profile", metavar="ID", help="Only jobs of this profile.")
@click.option("--batch", metavar="NAME", help="Only jobs of this batch.")
@click.option("--since", type=AGE, help="Only jobs archived within this time, such as 6h.")
@click.option("--limit", type=click.IntRange(min=1), help="Take at most this many, oldest first.")
@_DRY
@_YES
@json_flag
def undiscard(ids: tuple[int, ...], **flags: Any) -> None:
    """Bring discarded or cancelled jobs back: in error or pending, as they were."""
    named = ("task", "queue", "site", "profile", "batch")
    if not ids and not any(flags[name] for name in (*named, "since")):
        raise UsageError("say which jobs: give --id ID, or filters such as --batch and --since")
    plan = _plan("undiscard", "put back into the queue", flags)
    with closing(open_database()) as db:
        since = None if flags["since"] is None else archive.ago(archive.now(db), flags["since"])
        wanted = Gone(ids, **{name: flags[name] for name in named}, since=since)
        found = cancelling.gone(db, wanted)
        for job_id in set(ids) - set(found):
            raise UsageError(
                f"job {job_id} is not in the archive, or was done; nothing was put back"
            )
        _carry_out(plan, found[: flags["limit"]], lambda: _bring_back(db, found[: flags["limit"]]))


def _plan(verb: str, fate: str, flags: dict[str, Any]) -> Plan:
    return Plan(verb, fate, flags["limit"], flags["dry_run"], flags["yes"], flags["as_json"])


def _to_cancel(
    db: Database, ids: tuple[int, ...], running: bool, flags: dict[str, Any]
) -> tuple[list[int], int]:
    """Find the jobs that are meant, and count those of them that are left alone."""
    statuses = ("pending", "in_progress") if running else ("pending",)
    named = [name for name in ("task", "queue", "site", "profile", "batch", "since") if flags[name]]
    if bool(ids) == bool(named):
        raise UsageError(
            "say which jobs: give --id ID, or filters such as --batch, --queue, --task and --site"
        )
    if ids and flags["limit"]:
        raise UsageError("--limit works with filters; with --id, name fewer jobs")
    if ids:
        return _checked(db, tuple(dict.fromkeys(ids)), statuses), 0
    wanted = wanted_by(db, flags, statuses, until=archive.now(db))
    found: list[int] = []
    left = 0
    for row in listing.read(db, wanted, order=listing.OLDEST):
        if row["irreversible_step"] is not None:
            left += 1
        elif len(found) != flags["limit"]:
            found.append(row["id"])
        else:
            break
    return found, left


def _checked(db: Database, ids: tuple[int, ...], statuses: tuple[str, ...]) -> list[int]:
    """Refuse wrong ids before anything is changed."""
    states = dead_letters.states(db, ids)
    for job_id in ids:
        row = states.get(job_id)
        if row is None:
            place = "is in the archive" if archive.find(db, job_id) else "is not in the queue"
            raise UsageError(f"job {job_id} {place}; nothing was done")
        if row["status"] == "in_progress" and "in_progress" not in statuses:
            raise UsageError(f"job {job_id} is at work; nothing was done; add --running")
        if row["status"] not in statuses:
            raise UsageError(f"job {job_id} is {row['status']}; nothing was done")
        if row["irreversible_step"] is not None:
            raise UsageError(f"job {job_id} is at an irreversible step; nothing was done")
    return list(ids)


def _bring_back(db: Database, ids: list[int]) -> int:
    done = 0
    for job_id, is_back in cancelling.bring_back(db, ids):
        done += is_back
        if not is_back:
            tell(
                f"job {job_id} stays in the archive: another job has its dedupe key or its number",
                err=True,
            )
    return done


def _carry_out(plan: Plan, found: list[int], act: Callable[[], int], left: int = 0) -> None:
    more = f"; {left:,} more at an irreversible step, left alone" if left else ""
    if plan.is_dry or not found:
        said = f"{counted(len(found), 'job')} would be {plan.fate}"
        text = said if found else f"nothing to {plan.verb}: no such job"
        _tell(plan, len(found), 0, text + more)
        return
    if not plan.is_sure:
        requeue.ask(plan, len(found), len(found))
    done = act()
    _tell(plan, len(found), done, f"{counted(done, 'job')} {plan.fate}{more}")


def _tell(plan: Plan, matched: int, done: int, text: str) -> None:
    if plan.as_json:
        tell_json({"matched": matched, "done": done, "dry_run": plan.is_dry})
    else:
        tell(text)


COMMANDS = [cancel, undiscard]
