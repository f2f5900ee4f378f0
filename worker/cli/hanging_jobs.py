"""How the jobs that hang on a profile are told to the person who looks at it or clears it."""

from __future__ import annotations

from worker.cli.wording import counted
from worker.installation import command_line
from worker.profiles.hanging_jobs import LOOK_AT, HangingJobs
from worker.queue.settlements import half_done_at


def lines(jobs: HangingJobs) -> list[str]:
    """Say which jobs wait for a profile, and which of them may be half done."""
    told = ["no pending job waits for it"]
    if jobs.is_lower_bound:
        told = [f"none of the first {LOOK_AT:,} pending jobs waits for it"]
    if jobs.waiting:
        numbers = ", ".join(map(str, jobs.first))
        more = f" and {jobs.waiting - len(jobs.first):,} more" * (jobs.waiting > len(jobs.first))
        least = "at least " * jobs.is_lower_bound
        wait = "waits" if jobs.waiting == 1 else "wait"
        told = [f"{least}{counted(jobs.waiting, 'pending job')} {wait} for it: {numbers}{more}"]
    for job, reason in jobs.doubted.items():
        told.append(
            f"  job {job} may be half done and is tried again when the profile is clear: {reason}"
        )
    for job, step in jobs.half_done.items():
        told.append(
            f"  job {job} {half_done_at(step)} and stays an error: "
            f"{command_line('show', job)}, then {command_line('discard', '--id', job)} "
            f"or {command_line('retry', '--id', job)} --half-done"
        )
    return told
