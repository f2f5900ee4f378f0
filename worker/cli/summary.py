"""The summary of a run: what was done, what failed, what is left, and where to look."""

from __future__ import annotations

from pathlib import Path

from worker.cli.wording import counted, duration
from worker.supervisor.view import Summary

SHOWN_REASONS = 5


def render(summary: Summary, errors_dir: Path) -> list[str]:
    """Write the summary, one fact per line."""
    lines = [
        f"run {summary.run_id} {_how(summary)} after {duration(summary.seconds)}: "
        f"{summary.done:,} done, {summary.failed:,} failed, {summary.retried:,} retried, "
        f"{summary.rate:.1f} jobs/s"
    ]
    if summary.has_too_many_failed:
        lines.append(f"  {summary.failed:,} failed, and --fail-over allows {summary.fail_over:,}")
    if summary.swept or summary.handed_back or summary.crashes:
        lines.append(
            f"  {summary.swept:,} swept, {summary.handed_back:,} handed back, "
            f"{counted(summary.crashes, 'worker death')}"
        )
    if (auto := summary.auto_workers) is not None:
        lines.append(
            f"  settled on {counted(auto.number, 'worker')} by itself, "
            f"began with {auto.first}, had {auto.highest} at the most"
        )
    for worker in summary.workers:
        name = "without a slot" if worker.slot is None else worker.slot
        line = f"  worker {name}: {worker.done:,} done, {worker.failed:,} failed"
        if worker.crashes:
            line += f", died {counted(worker.crashes, 'time')}"
        if worker.given_up:
            line += f", GIVEN UP ({worker.given_up})"
        lines.append(line)
    lines.append(f"  left: {_left(summary)}")
    lines += _held_back(summary)
    for group in summary.groups:
        new = " NEW" if group["is_new"] else ""
        lines.append(f"  {group['jobs']:,} × {group['group'][:8]}{new}  {group['label']}")
    if summary.groups:
        lines.append("  next: python launcher.py errors")
    if summary.failed:
        lines.append(f"  evidence: {errors_dir}/<job>/<attempt>/ · python launcher.py show ID")
    return lines


def _how(summary: Summary) -> str:
    if summary.stopped_by:
        return f"stopped ({summary.stopped_by})"
    if summary.is_unfinished:
        return "gave up"
    if summary.held_back:
        jobs = sum(item["jobs"] for item in summary.held_back)
        return f"stopped with {_number(jobs, summary.held_back[0]['or_more'])} held back"
    return "drained"


def _held_back(summary: Summary) -> list[str]:
    """Say what holds jobs back, each reason once, the largest first."""
    shown, rest = summary.held_back[:SHOWN_REASONS], summary.held_back[SHOWN_REASONS:]
    lines = [
        f"  held back: {_number(item['jobs'], item['or_more'])}: {item['reason']}" for item in shown
    ]
    if rest:
        jobs = sum(item["jobs"] for item in rest)
        lines.append(f"  held back: {_number(jobs, rest[0]['or_more'])}: {len(rest)} other reasons")
    return lines


def _number(jobs: int, or_more: bool) -> str:
    return f"{jobs:,} {'or more ' * or_more}job{'s' * (jobs != 1)}"


def _left(summary: Summary) -> str:
    if summary.left is None:
        return "unknown, because the database does not answer"
    if not any(summary.left.values()):
        return "nothing"
    left = summary.left
    text = f"{left['pending']:,} pending"
    if left["waiting"]:
        text += f" ({left['waiting']:,} of them waiting for their time)"
    return text + (f", {left['in_progress']:,} in progress" if left["in_progress"] else "")
