"""What people are told, in words: what happened, to which run, and the next command.

Every text is one that may be sent: one line a fact, secrets masked, a stranger's text shown only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import printable
from worker.installation import command_line
from worker.notices.new_groups import NewGroup
from worker.reporting.night.words import clean, counted, span
from worker.system.identity import this_host

Kind = Literal["failure", "warning", "success", "info"]
MAX_BODY = 3000
SHOWN_GROUPS = 5


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to people."""

    title: str
    body: str
    kind: Kind
    picture: Path | None = None


def stalled(run_id: int, seconds: float, to_go: int, why: str, database_away: float) -> Notice:
    """Say that nothing finishes though there is work."""
    lines = [f"Nothing has finished for {span(seconds)}, though {counted(to_go, 'job')} could."]
    if database_away:
        lines.append(f"The database has not answered for {span(database_away)}.")
    if why:
        lines.append(f"Jobs are held back: {clean(why)}")
    lines.append("Look: python launcher.py status")
    return _notice(f"run {run_id} has stalled", lines, "failure")


def moves_again(run_id: int) -> Notice:
    """Say that a stall is over."""
    return _notice(
        f"run {run_id} goes on again", ["Jobs finish again. Nothing has to be done."], "success"
    )


def late(run_id: int, to_go: int, eta_seconds: float, left_seconds: float, until: str) -> Notice:
    """Say that the run will not be ready in time."""
    lines = [
        f"{counted(to_go, 'job')} to go: at this rate they take about {span(eta_seconds)}, "
        f"but the run stops in {span(left_seconds)}.",
        "Look: python launcher.py status",
        "What is left then stays pending for the next run.",
    ]
    return _notice(f"run {run_id} will not be ready {until}", lines, "warning")


def new_groups(run_id: int, groups: Sequence[NewGroup]) -> Notice:
    """Say that jobs fail in a way that was not seen before."""
    lines = []
    for group in groups[:SHOWN_GROUPS]:
        name = group.fingerprint
        lines.append(f"{counted(group.jobs, 'job')} of task {clean(group.task, 64)} failed so:")
        lines.append(f"  {clean(group.label)}")
        lines.append(f"  Look: python {command_line('errors', name)}")
        lines.append(f"  Try ten again: python {command_line('retry', '--group', name)} --limit 10")
    if len(groups) > SHOWN_GROUPS:
        lines.append(f"… and {len(groups) - SHOWN_GROUPS} more: python launcher.py errors")
    what = "a new failure group" if len(groups) == 1 else f"{len(groups)} new failure groups"
    return _notice(f"run {run_id} has {what}", lines, "warning")


def ended_badly(run: str, exit_code: int, lines: Sequence[str]) -> Notice:
    """Say that a run ended as it should not; with exit code 0, that its time was not enough."""
    how = f"ended badly (exit code {exit_code})" if exit_code else "was not ready in time"
    return _notice(f"{run} {how}", lines, "failure")


def trial() -> Notice:
    """Say that a message would arrive."""
    return _notice("a test", ["If you can read this, you will be told."], "info")


def _notice(title: str, lines: Sequence[str], kind: Kind) -> Notice:
    body = printable(redact_text("\n".join(lines)))[:MAX_BODY]
    return Notice(f"Nightshift on {clean(this_host().name, 60)}: {title}", body, kind)
