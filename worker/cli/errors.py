"""`launcher.py errors`, `mute` and `unmute`: show failed jobs in groups of the same error."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from worker.cli.connection import open_database
from worker.cli.options import AGE, json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.wording import counted, moment, operator
from worker.database.client import Database, Row
from worker.evidence import evidence_place
from worker.history import archive, dead_letters
from worker.installation import command_line
from worker.reasons import kept
from worker.reporting import nights
from worker.reporting.night.zone import local_zone

SHORT = 8
NO_GROUP = "–"


@click.command("errors")
@click.argument("group", required=False)
@click.option("--all", "with_muted", is_flag=True, help="Show muted groups too.")
@click.option("--since", type=AGE, help="Only jobs that failed within this time: 6h, 2d.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Show at most this many jobs of a GROUP.",
)
@json_flag
def errors(
    group: str | None, with_muted: bool, since: float | None, limit: int, as_json: bool
) -> None:
    """Group the jobs in error by what went wrong; with GROUP, list its jobs.

    The beginning of a group's name is enough. NEW marks groups that were not seen before this
    night, which began at 18:00; or, if nothing has ended since, before the night of the latest
    run.
    """
    with closing(open_database()) as db:
        if group is not None:
            _tell_group(db, dead_letters.find_group(db, group), limit, as_json)
            return
        new_since = nights.new_since(db, local_zone())
        found = dead_letters.groups(db, new_since, since_seconds=since)
    shown = [row for row in found if with_muted or row["muted_at"] is None]
    muted = [row for row in found if row["muted_at"] is not None]
    if as_json:
        report = {"groups": [_plain_group(row) for row in shown], "muted_groups": len(muted)}
        tell_json(report)
        return
    tell_all(_group_lines(shown, muted if not with_muted else []))


@click.command("mute")
@click.argument("group")
@click.option("--reason", default="by hand", show_default=True, help="Why; shown by errors --all.")
def mute(group: str, reason: str) -> None:
    """Hide a group from `errors`, from the summaries of runs, and from --filter."""
    with closing(open_database()) as db:
        found = dead_letters.find_group(db, group)
        dead_letters.mute(db, found["fingerprint"], by=operator(), reason=reason)
    tell(f"muted {found['fingerprint']} ({found['label']})")


@click.command("unmute")
@click.argument("group")
def unmute(group: str) -> None:
    """Show a muted group again."""
    with closing(open_database()) as db:
        found = dead_letters.find_group(db, group)
        was_muted = dead_letters.unmute(db, found["fingerprint"])
    tell(f"unmuted {found['fingerprint']}" if was_muted else "that group was not muted")


def _group_lines(shown: list[Row], left_out: list[Row]) -> list[str]:
    lines = []
    if shown:
        jobs, new = sum(row["jobs"] for row in shown), sum(bool(row["is_new"]) for row in shown)
        lines.append(
            f"{counted(jobs, 'job')} in error in {counted(len(shown), 'group')}"
            + (f", {new:,} NEW" if new else "")
        )
    else:
        lines.append(
            "no job is in error" if not left_out else "no job is in error outside muted groups"
        )
    for row in shown:
        marks = (" NEW" if row["is_new"] else "") + (" MUTED" if row["muted_at"] else "")
        lines += [
            f"{row['jobs']:>7,}  {_short(row['fingerprint'])}{marks}  {row['label']}",
            f"{'':9}first {moment(row['first_seen'])}, last {moment(row['last_seen'])}; "
            f"for example job {row['sample_job']}{_evidence(row)}",
        ]
        if row["half_done"]:
            lines.append(f"{'':9}{_half_done(row['fingerprint'])}")
        if row["muted_at"]:
            lines.append(
                f"{'':9}muted by {row['muted_by'] or 'somebody'}: {kept(row['mute_reason'])}"
            )
    if left_out:
        jobs = sum(row["jobs"] for row in left_out)
        lines.append(
            f"not shown: {counted(jobs, 'job')} in {counted(len(left_out), 'muted group')}; "
            f"to see them: --all"
        )
    ordinary = (row["fingerprint"] for row in shown if not row["half_done"])
    first = next((key for key in ordinary if key), None)
    if first:
        lines.append(
            f"next: {command_line('errors', first)}"
            f" · {command_line('retry', '--group', first)} --limit 10"
            f" · {command_line('discard', '--group', first)}"
        )
    return lines


def _tell_group(db: Database, group: Row, limit: int, as_json: bool) -> None:
    key = group["fingerprint"]
    scope = dead_letters.Scope(until=archive.now(db), group=key)
    jobs = dead_letters.jobs_of_group(db, key, limit)
    total = dead_letters.count(db, scope).jobs
    if as_json:
        report = {"group": group, "in_error": total, "jobs": jobs}
        tell_json(report)
        return
    lines = [
        f"{key}  {group['label']}",
        f"  {counted(total, 'job')} in error now; {counted(group['failures'], 'attempt')} failed "
        f"like this, first {moment(group['first_seen'])}, last {moment(group['last_seen'])}",
    ]
    if group["muted_at"]:
        lines.append(
            f"  muted {moment(group['muted_at'])} by {group['muted_by'] or 'somebody'}: "
            f"{kept(group['mute_reason'])}"
        )
    for job in jobs:
        site = f" {job['site']}" if job["site"] else ""
        lines.append(
            f"  job {job['id']}{site}, attempt {job['attempts']}, {moment(job['finished_at'])}: "
            f"{kept(job['reason'])}{_evidence(job)}"
        )
    if total > len(jobs):
        lines.append(f"  and {total - len(jobs):,} more; raise --limit")
    if total and any(job["irreversible_step"] for job in jobs):
        lines.append(f"next: {command_line('show', jobs[0]['id'])} · {_half_done(key)}")
    elif total:
        lines.append(
            f"next: {command_line('show', jobs[0]['id'])}"
            f" · {command_line('rehearse', '--group', key)}"
            f" · {command_line('retry', '--group', key)} --limit 10"
        )
    tell_all(lines)


def _plain_group(row: Row) -> dict[str, Any]:
    numbers = {"jobs": int(row["jobs"]), "half_done": int(row["half_done"])}
    return {**row, **numbers, "is_new": bool(row["is_new"])}


def _half_done(fingerprint: str) -> str:
    """Say what a person does about jobs that no run tries again by itself."""
    # The whole name: a shorter one may be another group's too.
    group = ("--group", fingerprint)
    return (
        f"not tried again by itself; look at the site, then: {command_line('discard', *group)}"
        f" · {command_line('retry', *group)} --half-done"
    )


def _evidence(attempt: Row) -> str:
    where = evidence_place.place(attempt)
    return f", {where}" if where else ""


def _short(fingerprint: str | None) -> str:
    return fingerprint[:SHORT] if fingerprint else NO_GROUP


COMMANDS = [errors, mute, unmute]
