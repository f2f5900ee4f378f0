"""`launcher.py retry` and `discard`: act on many jobs in error, after counting them and asking."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import click

from worker.cli import output
from worker.cli.connection import open_database
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_json
from worker.cli.wording import counted, operator
from worker.database.client import Database
from worker.errors import UsageError
from worker.history import archive, dead_letters, freed_keys
from worker.history.dead_letters import FILTER_HELP, Count, Scope
from worker.installation import command_line
from worker.queue.settlements import half_done_at

Command = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What the command was asked to do, and whether it should ask back."""

    verb: str
    fate: str
    limit: int | None
    is_dry: bool
    is_sure: bool
    as_json: bool
    # The dedupe keys of what may be half done, which a discard sets free.
    freed: tuple[str, ...] = ()


def scope_flags(command: Command) -> Command:
    """Give a command the flags that choose jobs."""
    for flag in (
        json_flag,
        click.option("--yes", is_flag=True, help="Do not ask first; required without a terminal."),
        click.option("--dry-run", is_flag=True, help="Only count the jobs; change nothing."),
        click.option(
            "--limit", type=click.IntRange(min=1), help="Take at most this many, the oldest first."
        ),
        click.option("--filter", "conditions", metavar="CONDITIONS", help=f"{FILTER_HELP}."),
        click.option(
            "--id", "ids", type=int, multiple=True, metavar="ID", help="A job; repeatable."
        ),
        click.option(
            "--group", metavar="GROUP", help="A group of `errors`; its beginning is enough."
        ),
    ):
        command = flag(command)
    return command


@click.command("retry")
@scope_flags
@click.option("--force", is_flag=True, help="With --id: run a job that is done once more.")
@click.option(
    "--half-done",
    is_flag=True,
    help="Also jobs that broke off at an irreversible step. Look at the site first: they may "
    "do it a second time.",
)
def retry(force: bool, half_done: bool, **flags: Any) -> None:
    """Put jobs in error back to pending, with all their attempts to use again.

    A job that fails again meanwhile is not taken a second time. Try a few first: --limit 10.
    Jobs that may be half done are left alone without --half-done.
    """
    if force and not flags["ids"]:
        raise UsageError(
            "--force works only with --id: groups and filters never take jobs that are done"
        )
    plan = _plan(flags, "retry", "put back to pending")
    with closing(open_database()) as db:
        scope = replace(_scope(db, flags), half_done=half_done)
        done_ids = _check_ids(db, scope.ids, force, plan.verb)
        _mind_half_done(db, scope)

        def act() -> int:
            repeated = dead_letters.repeat_done(db, done_ids, scope.until) if done_ids else 0
            return repeated + dead_letters.retry(db, scope, limit=plan.limit)

        _carry_out(db, scope, plan, act, more=len(done_ids))


@click.command("discard")
@scope_flags
@click.option("--reason", help="Why; kept with the jobs.")
def discard(reason: str | None, **flags: Any) -> None:
    """Move jobs in error to the archive. Nothing is deleted: `show ID` still finds them.

    Their dedupe keys are free then. Of jobs that may be half done this says so: adding such a job
    once more would do it again.
    """
    plan = _plan(flags, "discard", "moved to the archive")
    by = operator()
    label = archive.Label(by, f"discarded by {by}" + (f": {reason}" if reason else ""))
    with closing(open_database()) as db:
        scope = _scope(db, flags)
        _check_ids(db, scope.ids, False, plan.verb)
        plan = replace(plan, freed=tuple(freed_keys.find(db, scope, plan.limit)))
        _carry_out(
            db, scope, plan, lambda: dead_letters.discard(db, scope, label, limit=plan.limit)
        )


def offer_retry(db: Database, fingerprint: str) -> None:
    """Ask whether to put a group back now, as `retry --group` does, and do so."""
    plan = Plan("retry", "put back to pending", None, False, False, False)
    scope = Scope(archive.now(db), group=fingerprint, half_done=False)
    _carry_out(db, scope, plan, lambda: dead_letters.retry(db, scope, limit=None))


def _plan(flags: dict[str, Any], verb: str, fate: str) -> Plan:
    if flags["limit"] and flags["ids"]:
        raise UsageError("--limit works with --group and --filter; with --id, name fewer jobs")
    return Plan(verb, fate, flags["limit"], flags["dry_run"], flags["yes"], flags["as_json"])


def _scope(db: Database, flags: dict[str, Any]) -> Scope:
    """Fix which jobs are meant, by the database's clock; exactly one flag must say it."""
    given = [flags["group"] is not None, bool(flags["ids"]), flags["conditions"] is not None]
    if sum(given) != 1:
        raise UsageError(
            "say which jobs: give one of --group GROUP, --id ID and --filter CONDITIONS"
        )
    until = archive.now(db)
    if flags["ids"]:
        return Scope(until, ids=tuple(dict.fromkeys(flags["ids"])))
    if flags["group"] is not None:
        return Scope(until, group=dead_letters.find_group(db, flags["group"])["fingerprint"])
    return Scope(until, filter=dead_letters.parse_filter(flags["conditions"]))


def _check_ids(db: Database, ids: tuple[int, ...], is_forced: bool, verb: str) -> list[int]:
    """Refuse wrong ids before anything is changed; return the ids of jobs that are done."""
    states = dead_letters.states(db, ids) if ids else {}
    for job_id in ids:
        status = states[job_id]["status"] if job_id in states else None
        if status is None:
            place = "is in the archive" if archive.find(db, job_id) else "is not in the queue"
            raise UsageError(f"job {job_id} {place}; nothing was done")
        if status == "done" and not is_forced:
            remedy = "; add --force to run it once more" if verb == "retry" else ""
            raise UsageError(f"job {job_id} is done, not in error; nothing was done{remedy}")
        if status not in ("error", "done"):
            raise UsageError(f"job {job_id} is {status}, not in error; nothing was done")
    return [job_id for job_id, row in states.items() if row["status"] == "done"]


def _mind_half_done(db: Database, scope: Scope) -> None:
    """Refuse named jobs that may be half done, or say at which step each of them broke off."""
    for job_id, row in dead_letters.states(db, scope.ids).items() if scope.ids else ():
        if (step := row["irreversible_step"]) is None or row["status"] != "error":
            continue
        if not scope.half_done:
            raise UsageError(
                f"job {job_id} {half_done_at(step)}; nothing was done. Look at the site, and at "
                f"{command_line('show', job_id)}; then add --half-done to have it done again, "
                f"or: {command_line('discard', '--id', job_id)}"
            )
        tell(f"job {job_id}: its last step was {step!r}", err=True)


def _carry_out(
    db: Database, scope: Scope, plan: Plan, act: Callable[[], int], more: int = 0
) -> None:
    count = dead_letters.count(db, scope)
    matched = count.jobs + more
    meant = matched if plan.limit is None else min(matched, plan.limit)
    if plan.is_dry or not matched:
        _tell(plan, matched, 0, _would(plan, matched, meant, count), count)
        return
    if not plan.is_sure:
        ask(plan, matched, meant)
    done = act()
    text = f"{_some(done, matched, meant)} {plan.fate}{_left_out(count)}{_freed(plan, done, 'is')}"
    _tell(plan, matched, done, text, count)


def _would(plan: Plan, matched: int, meant: int, count: Count) -> str:
    if not matched:
        text = f"nothing to {plan.verb}: no job in error matches"
    else:
        text = f"{_some(meant, matched, meant)} would be {plan.fate}"
    if count.muted:
        text += f"; {count.muted:,} more in muted groups (choose those with --group)"
    return text + _left_out(count) + _freed(plan, meant, "would be")


def _freed(plan: Plan, jobs: int, verb: str) -> str:
    said = freed_keys.warning(plan.freed, jobs=jobs, verb=verb)
    return f"; {said}" if said else ""


def _left_out(count: Count) -> str:
    if not count.half_done:
        return ""
    return f"; {count.half_done:,} more may be half done (look at the site, then add --half-done)"


def ask(plan: Plan, matched: int, meant: int) -> None:
    """Ask a person before anything is changed; off a terminal, refuse."""
    jobs = _some(meant, matched, meant)
    if not output.is_asking_possible():
        raise UsageError(
            f"{plan.verb}: {jobs} would be {plan.fate}{_freed(plan, meant, 'would be')}; "
            f"there is no terminal to ask on, "
            f"so add --yes to do it"
        )
    if not output.ask(f"{jobs} will be {plan.fate}{_freed(plan, meant, 'will be')}. Continue?"):
        tell("nothing was done", err=True)
        raise click.exceptions.Exit(0)


def _some(jobs: int, matched: int, meant: int) -> str:
    return f"{jobs:,} of {counted(matched, 'job')}" if meant < matched else counted(jobs, "job")


def _tell(plan: Plan, matched: int, done: int, text: str, count: Count) -> None:
    if plan.as_json:
        left_out = {"half_done_left_out": count.half_done} if count.half_done else {}
        freed = {"freed_dedupe_keys": list(plan.freed)} if plan.freed else {}
        report = {"matched": matched, "done": done, "dry_run": plan.is_dry, **left_out, **freed}
        tell_json(report)
    else:
        tell(text)


COMMANDS = [retry, discard]
