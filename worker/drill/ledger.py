"""The audit: what the tasks noted themselves, held against what the database says.

Judges only what it is given, so that a test can hand it a ledger in which something went wrong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from worker.database.client import Database
from worker.drill import tasks
from worker.drill.blame import Hit, struck_claims
from worker.models import Outcome, Status
from worker.queue.settlements import MAX_CRASHES

# Two clocks are read a moment apart: a statement's time is that of its start, not of its commit.
CLOCK_SECONDS = 0.05
# A claim that ended in one of these ways was taken from its worker, whose own word came too late.
TAKEN_AWAY = {Outcome.SWEPT, Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.HANDED_BACK}


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of a task, as it noted itself; no end when its process died first."""

    job_id: int
    process: tuple[int, int]
    started: float
    started_wall: float
    ended: float | None = None
    ended_wall: float | None = None
    is_complete: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """One claim that has ended, as the history tells it."""

    job_id: int
    fence: int
    outcome: Outcome
    process: tuple[int, int] | None
    started_at: float
    finished_at: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JobEnd:
    """Where a job stands when all is over."""

    job_id: int
    task: str
    status: Status
    fence: int


Item = TypeVar("Item", Attempt, Execution)


@dataclass(slots=True)
class Findings:
    """What the audit found; every list must be empty."""

    jobs: int = 0
    done: int = 0
    errors_wanted: int = 0
    errors_poison: int = 0
    good_in_error: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    finished_twice: list[str] = field(default_factory=list)
    overlapping: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    broken_promises: list[str] = field(default_factory=list)
    attempts: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    executed_again: int = 0
    overlapping_executions: int = 0

    @property
    def errors(self) -> int:
        return self.errors_wanted + self.errors_poison + len(self.good_in_error)

    @property
    def is_clean(self) -> bool:
        return not (
            self.lost
            or self.good_in_error
            or self.finished_twice
            or self.overlapping
            or self.leftovers
            or self.broken_promises
        )


def read_ledger(path: Path) -> list[Execution]:
    """Read the tasks' own notes, oldest first; a line cut off by a full disk is an error."""
    open_ones: dict[tuple[int, tuple[int, int]], Execution] = {}
    found: list[Execution] = []
    text = path.read_text(encoding="ascii") if path.exists() else ""
    for line in text.splitlines():
        event, job, _, pid, pid_started, clock, wall = line.split()
        key = (int(job), (int(pid), int(pid_started)))
        if event == "start":
            if key in open_ones:
                found.append(open_ones[key])
            open_ones[key] = Execution(*key, float(clock), float(wall))
        else:
            begun = open_ones.pop(key)
            found.append(
                Execution(
                    *key,
                    begun.started,
                    begun.started_wall,
                    float(clock),
                    float(wall),
                    event == "ok",
                )
            )
    return sorted([*found, *open_ones.values()], key=lambda execution: execution.started)


def read_database(db: Database) -> tuple[list[JobEnd], list[Attempt]]:
    """Read every job and every claim of it that has ended."""
    jobs = [
        JobEnd(row["id"], row["task"], Status(row["status"]), row["fence"])
        for row in db.fetch_all("drill_jobs")
    ]
    attempts = [
        Attempt(
            row["job_id"],
            row["fence"],
            Outcome(row["outcome"]),
            None if row["pid"] is None else (row["pid"], row["pid_started"]),
            row["started_at"],
            row["finished_at"],
            row["reason"] or "",
        )
        for row in db.fetch_all("drill_attempts")
    ]
    return jobs, attempts


def judge(
    jobs_in: int,
    jobs: Sequence[JobEnd],
    attempts: Sequence[Attempt],
    executions: Sequence[Execution],
    hits: Sequence[Hit] = (),
) -> Findings:
    """Count every job, and name each one that was lost, doubled, held by two, or wronged."""
    findings = Findings(
        jobs=jobs_in,
        done=sum(job.status is Status.DONE for job in jobs),
        attempts=len(attempts),
        outcomes=dict(Counter(attempt.outcome.value for attempt in attempts)),
    )
    if len(jobs) != jobs_in:
        findings.lost.append(f"{jobs_in - len(jobs)} jobs are not in the queue any more")
    claims, runs = _by_job(attempts), _by_job(executions)
    for job in jobs:
        _judge_end(job, claims[job.job_id], runs[job.job_id], findings)
        _judge_error(job, claims[job.job_id], hits, findings)
        _judge_finishes(job, claims[job.job_id], findings)
        _judge_claims(job, claims[job.job_id], findings)
        _judge_executions(job, claims[job.job_id], runs[job.job_id], findings)
    return findings


def _judge_end(
    job: JobEnd, claims: Sequence[Attempt], runs: Sequence[Execution], findings: Findings
) -> None:
    """Every job is an error, or done by a task that says so."""
    if job.status is Status.DONE:
        finishes = [claim for claim in claims if claim.outcome is Outcome.DONE]
        if not any(_was_done(run, claim) for run in runs for claim in finishes):
            findings.lost.append(f"job {job.job_id} is done, but no task had done it by then")
    elif job.status is not Status.ERROR:
        findings.lost.append(f"job {job.job_id} is still {job.status}")


def _judge_error(
    job: JobEnd, claims: Sequence[Attempt], hits: Sequence[Hit], findings: Findings
) -> None:
    """A job is an error only if its task wanted that, or the drill hit its workers often enough."""
    if job.status is not Status.ERROR:
        return
    crashed = [claim for claim in claims if claim.outcome is Outcome.CRASHED]
    struck = struck_claims(crashed, hits)
    if job.task == tasks.FAILING:
        findings.errors_wanted += 1
    elif claims and claims[-1].outcome is Outcome.CRASHED and struck >= MAX_CRASHES:
        findings.errors_poison += 1
    else:
        reason = claims[-1].reason if claims else "no attempt is noted"
        blame = f" (the drill hit {struck} of {len(crashed)})" if crashed else ""
        findings.good_in_error.append(f"job {job.job_id} ({job.task}): {reason}{blame}")


def _was_done(run: Execution, finish: Attempt) -> bool:
    """Tell whether a task had ended well, in the process that says so, when it was settled."""
    return (
        run.is_complete
        and run.process == finish.process
        and run.ended_wall is not None
        and run.ended_wall <= finish.finished_at + CLOCK_SECONDS
    )


def _judge_finishes(job: JobEnd, claims: Sequence[Attempt], findings: Findings) -> None:
    """A done job was finished once, by the last claim on it."""
    finishes = [claim.fence for claim in claims if claim.outcome is Outcome.DONE]
    if len(finishes) > 1:
        findings.finished_twice.append(f"job {job.job_id} was finished {len(finishes)} times")
    elif finishes and (finishes[0] != job.fence or job.status is not Status.DONE):
        findings.finished_twice.append(
            f"job {job.job_id} was finished at fence {finishes[0]}, "
            f"but is {job.status} at fence {job.fence}"
        )


def _judge_claims(job: JobEnd, claims: Sequence[Attempt], findings: Findings) -> None:
    """Every claim has ended before the next began: each fence is there once, in order of time."""
    fences = [claim.fence for claim in claims]
    last = job.fence - (job.status is Status.IN_PROGRESS)
    if fences != list(range(1, last + 1)):
        findings.overlapping.append(
            f"job {job.job_id} was claimed {job.fence} times, but these claims ended: {fences}"
        )
    for earlier, later in pairwise(claims):
        if later.started_at < earlier.finished_at - CLOCK_SECONDS:
            findings.overlapping.append(
                f"job {job.job_id}: claim {later.fence} began before claim {earlier.fence} ended"
            )


def _judge_executions(
    job: JobEnd, claims: Sequence[Attempt], runs: Sequence[Execution], findings: Findings
) -> None:
    """Two executions at the same time are legitimate only if the first had lost its claim.

    A worker that was stopped for longer than its lease wakes, and writes its end after another
    has begun the job. Nothing can prevent that from outside; but its claim must have been taken
    away before the other's began, so that its own outcome was refused.
    """
    findings.executed_again += max(0, len(runs) - 1)
    for index, earlier in enumerate(runs):
        for later in runs[index + 1 :]:
            if earlier.ended is None or later.started >= earlier.ended:
                continue
            lost, held = _claim_of(earlier, claims), _claim_of(later, claims)
            if (
                lost is not None
                and held is not None
                and lost.outcome in TAKEN_AWAY
                and lost.finished_at <= held.started_at + CLOCK_SECONDS
                and lost.fence < held.fence
            ):
                findings.overlapping_executions += 1
            else:
                findings.overlapping.append(
                    f"job {job.job_id} was executed by {later.process[0]} while "
                    f"{earlier.process[0]} executed it under a claim that held"
                )


def _claim_of(run: Execution, claims: Iterable[Attempt]) -> Attempt | None:
    """Find the claim under which a task ran: the last one its process took before it began."""
    own = [
        claim
        for claim in claims
        if claim.process == run.process and claim.started_at <= run.started_wall + CLOCK_SECONDS
    ]
    return max(own, key=lambda claim: claim.fence, default=None)


def _by_job(items: Iterable[Item]) -> defaultdict[int, list[Item]]:
    found: defaultdict[int, list[Item]] = defaultdict(list)
    for item in items:
        found[item.job_id].append(item)
    return found
