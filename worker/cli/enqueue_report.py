"""What `enqueue` says: which lines were bad, how many jobs it added, and their ids."""

from __future__ import annotations

from dataclasses import dataclass, field

from worker.cli.output import tell, tell_json, tell_text
from worker.cli.wording import counted
from worker.errors import UsageError
from worker.evidence.terminal_text import one_line
from worker.intake.jobs import Problem
from worker.models import MAX_BATCH_NAME

SHOWN_PROBLEMS = 20
SHOWN_STRETCHES = 10


@dataclass(slots=True)
class Tally:
    """What has been read so far."""

    jobs: int = 0
    bad: int = 0
    shown: list[str] = field(default_factory=list)

    def add(self, problem: Problem) -> None:
        self.bad += 1
        if len(self.shown) < SHOWN_PROBLEMS:
            self.shown.append(f"  line {problem.number}: {one_line(problem.text)}")

    def problem_text(self, source: str, consequence: str) -> str:
        """List the bad lines, and say what comes of them."""
        more = self.bad - len(self.shown)
        rest = [f"  and {more:,} more"] if more else []
        heading = f"{one_line(name_of(source))} has {counted(self.bad, 'bad line')}; {consequence}:"
        return "\n".join([heading, *self.shown, *rest])


@dataclass(frozen=True, slots=True)
class Added:
    """How many jobs were added, and their ids in stretches."""

    jobs: int
    ids: list[range]


def report(tally: Tally, source: str, task: str, added: Added, *, as_json: bool) -> None:
    """Say what was added and what was not."""
    _show_problems(tally, source, "they were skipped")
    duplicates = tally.jobs - added.jobs
    if as_json:
        stretches = [[each[0], each[-1], each.step] for each in added.ids]
        tell_json({"added": added.jobs, "duplicates": duplicates, "ids": stretches})
        return
    tell(
        f"added {counted(added.jobs, 'job')} for task {task}{_ids(added.ids)}"
        + (f", {counted(duplicates, 'duplicate')} skipped" if duplicates else "")
    )


def report_dry_run(tally: Tally, source: str) -> int:
    """Say what would be added."""
    _show_problems(tally, source, "nothing was added")
    tell(f"would add {counted(tally.jobs, 'job')}; {counted(tally.bad, 'bad line')}")
    return 2 if tally.bad else 0


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
