"""What `enqueue` says: which lines were bad, how many jobs it added, and their ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from worker.cli.output import tell, tell_json, tell_text
from worker.cli.wording import counted
from worker.database.client import Row
from worker.errors import UsageError
from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import one_line
from worker.exit_codes import ExitCode
from worker.intake.jobs import Problem
from worker.models import MAX_BATCH_NAME

SHOWN_PROBLEMS = 20
SHOWN_STRETCHES = 10
# Where nothing is new, the first dedupe keys tell whose jobs are there already.
MOST_KEYS = 3


@dataclass(slots=True)
class Tally:
    """What has been read so far."""

    jobs: int = 0
    bad: int = 0
    keys: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def add(self, problem: Problem) -> None:
        self.bad += 1
        if len(self.shown) < SHOWN_PROBLEMS:
            self.shown.append(f"  line {problem.number}: {one_line(problem.text)}")

    def note_key(self, key: str | None) -> None:
        """Remember the first dedupe keys."""
        if key is not None and len(self.keys) < MOST_KEYS and key not in self.keys:
            self.keys.append(key)

    def problem_text(self, source: str, consequence: str) -> str:
        """List the bad lines, and say what comes of them."""
        more = self.bad - len(self.shown)
        rest = [f"  and {more:,} more"] if more else []
        heading = f"{one_line(name_of(source))} has {counted(self.bad, 'bad line')}; {consequence}:"
        return "\n".join([heading, *self.shown, *rest])


@dataclass(frozen=True, slots=True)
class Added:
    """How many jobs were added, or would be, their ids in stretches, and who has the first keys."""

    jobs: int
    ids: list[range] = field(default_factory=list)
    taken: list[Row] = field(default_factory=list)


def report(tally: Tally, source: str, task: str, added: Added, *, as_json: bool) -> None:
    """Say what was added and what was not."""
    _show_problems(tally, source, "they were skipped")
    duplicates = tally.jobs - added.jobs
    if as_json:
        stretches = [[each[0], each[-1], each.step] for each in added.ids]
        told = {"added": added.jobs, "duplicates": duplicates, "ids": stretches}
        tell_json({**told, **_taken_as_json(added)})
        return
    tell(
        f"added {counted(added.jobs, 'job')} for task {task}{_ids(added.ids)}"
        + (f", {counted(duplicates, 'duplicate')} skipped" if duplicates else "")
        + _taken(added)
    )


def report_dry_run(tally: Tally, source: str, added: Added, *, as_json: bool) -> int:
    """Say what would be added."""
    _show_problems(tally, source, "nothing was added")
    duplicates = tally.jobs - added.jobs
    if as_json:
        told = {"would_add": added.jobs, "duplicates": duplicates, "bad_lines": tally.bad}
        tell_json({**told, "dry_run": True, **_taken_as_json(added)})
    else:
        skipped = f", {counted(duplicates, 'duplicate')} skipped" if duplicates else ""
        tell(
            f"would add {counted(added.jobs, 'job')}{skipped}; "
            f"{counted(tally.bad, 'bad line')}{_taken(added)}"
        )
    return ExitCode.USAGE if tally.bad else ExitCode.OK


def name_of(source: str) -> str:
    """Name where the jobs come from."""
    return "standard input" if source == "-" else source


def check_batch(name: str | None, callback: str | None) -> None:
    """Raise UsageError for a batch that cannot be meant."""
    if name is None:
        if callback:
            raise UsageError("--batch-callback is for jobs of a batch; give --batch NAME too")
        return
    if not name.strip() or len(name) > MAX_BATCH_NAME:
        raise UsageError(f"--batch: a batch's name has 1 to {MAX_BATCH_NAME} characters")


def _taken(added: Added) -> str:
    """Say of what everything was a duplicate: `: job 7 (done) has the key 'a'`."""
    if added.jobs or not added.taken:
        return ""
    jobs = ", ".join(
        f"job {row['id']} ({row['status']}) has the key {redact_text(repr(row['dedupe_key']))}"
        for row in added.taken
    )
    return f": {jobs}; a key is free again when its job is archived"


def _taken_as_json(added: Added) -> dict[str, Any]:
    if added.jobs or not added.taken:
        return {}
    keys = ({**row, "dedupe_key": redact_text(row["dedupe_key"])} for row in added.taken)
    return {"taken_by": list(keys)}


def _ids(stretches: list[range]) -> str:
    """Write ids: `: id 7`, or `: ids 7–9, 12`."""
    if not stretches:
        return ""
    shown = ", ".join(_stretch(each) for each in stretches[:SHOWN_STRETCHES])
    rest = sum(map(len, stretches[SHOWN_STRETCHES:]))
    more = f" and {rest:,} more" if rest else ""
    return f": id{'s' * (sum(map(len, stretches)) > 1)} {shown}{more}"


def _stretch(ids: range) -> str:
    if len(ids) == 1:
        return str(ids[0])
    every = f" in steps of {ids.step}" if ids.step > 1 else ""
    return f"{ids[0]}–{ids[-1]}{every}"


def _show_problems(tally: Tally, source: str, consequence: str) -> None:
    if tally.bad:
        tell_text(tally.problem_text(source, consequence), err=True)
