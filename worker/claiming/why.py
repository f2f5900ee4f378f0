"""Explain in one sentence why a job is not running.

It only reads. The answer may be out of date a moment later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from worker.claiming import turns
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.scope import absence, of_live_runs, of_onlookers
from worker.claiming.turns import Stopped
from worker.database.client import Database, Row
from worker.errors import PayloadError
from worker.guards.keys import ClosedKey
from worker.installation import command_line
from worker.models import Candidate, Status
from worker.profiles import manifest
from worker.profiles.resolution import Unresolvable, look
from worker.queue import pause
from worker.queue.claims import Queue
from worker.queue.pause import Pauses
from worker.queue_names import as_compared
from worker.reasons import NO_REASON, last_error_line
from worker.recovery import live_runs
from worker.recovery.live_runs import Life, RunState
from worker.recovery.sweep import sweep
from worker.urls import host_or_none

# Stop counting here: an exact larger number would help nobody.
MANY = 10_000
# So begins what is said of a job in progress whose worker is gone.
NOT_RUNNING = "is not running"
_WAITS = "waits because "


def sentence_about(
    db: Database,
    job: Row,
    history: Sequence[Row] = (),
    closed: Mapping[str, ClosedKey] | None = None,
    pauses: Pauses | None = None,
) -> str:
    """Say in one sentence what a job waits for, or what it is doing, or how it ended.

    `history` is that of an archived job, which the queue's own tables no longer have. `closed` is
    what is closed now, and `pauses` what is paused, where somebody has looked already.
    """
    name = f"job {job['id']}"
    if job.get("archived_at") is not None:
        return f"{name} {_archived(job, history)}"
    match job["status"]:
        case Status.DONE:
            return f"{name} was done at {_utc(job['finished_at'])}"
        case Status.ERROR:
            return (
                f"{name} failed for good at {_utc(job['finished_at'])} after "
                f"{job['attempts']} attempt{'s' * (job['attempts'] != 1)}: {_reason(db, job)}; "
                f"{_remedy(job)}"
            )
        case Status.IN_PROGRESS:
            return f"{name} {_at_work(db, job)}"
    return f"{name} {_pending(db, job, closed, pauses or pause.all_pauses(db))}"


def wait_reason_now(db: Database, job: Row) -> str | None:
    """Say what a job waits for now, in the same words as `sentence_about`.

    The row keeps what was found when it was last tried, which may be another reason by now.
    """
    is_over = job.get("archived_at") is not None or job["status"] != Status.PENDING
    if is_over or _early_seconds(db, job) > 0:
        kept: str | None = job["wait_reason"]
        return kept
    said = _behind(db, job) or _unready(db, job) or _closed(db, job, None)
    return said.removeprefix(_WAITS) if said else None


def _archived(job: Row, history: Sequence[Row]) -> str:
    """Say what became of a job that has left the queue, and how it comes back if it can."""
    left = (
        f"was archived at {_utc(job['archived_at'])} by {job['archived_by']} "
        f"({job['archive_reason']})"
    )
    back = f"to bring it back: {command_line('undiscard', '--id', job['id'])}"
    match job["status"]:
        case Status.DONE:
            done = f"was done at {_utc(job['finished_at'])}"
            return f"{done}; it {left}, so it cannot be tried again: enqueue it anew"
        case Status.ERROR:
            found = [row["reason"] for row in history if row["fence"] == job["fence"]]
            reason = (found and found[-1]) or last_error_line(job["last_error"]) or NO_REASON
            return f"failed for good at {_utc(job['finished_at'])}: {reason}; it {left}; {back}"
        case Status.IN_PROGRESS:
            return f"{left} while it was at work; {back}"
    return f"{left} before it was done; {back}"


def _at_work(db: Database, job: Row) -> str:
    for item in sweep(db, Queue(db), dry_run=True):
        if item.job_id == job["id"]:
            ends = "puts it back" if item.status is Status.PENDING else "ends it"
            return f"{NOT_RUNNING}: {item.reason}; the next sweep {ends}: launcher.py sweep"
    times = db.fetch_all("times_of_job", id=job["id"])[0]
    step = job["irreversible_step"]
    by = "" if job["worker_id"] is None else f": worker {job['worker_id']}"
    where = f" on {times['host']}" if times["host"] else ""
    at_step = f", at the irreversible step {step!r}" if step is not None else ""
    return f"is running{by}{where}, for {float(times['age_seconds']):.0f} s{at_step}"


def _remedy(job: Row) -> str:
    again = command_line("retry", "--id", job["id"])
    if job["irreversible_step"] is None:
        return f"to try again: {again}"
    return (
        f"look at the site; if it was not done: {again} --half-done; "
        f"if it was: {command_line('discard', '--id', job['id'])}"
    )


def _pending(db: Database, job: Row, known: Mapping[str, ClosedKey] | None, pauses: Pauses) -> str:
    if (paused := pauses.everything) is not None:
        return (
            f"waits because all runs are paused by {paused['set_by']} ({paused['reason']}); "
            f"resume with: launcher.py resume"
        )
    if (seconds := _early_seconds(db, job)) > 0:
        because = f": {job['wait_reason']}" if job["wait_reason"] else ""
        return f"waits until {_utc(job['not_before'])}, {seconds:.0f} s from now{because}"
    if waits := _behind(db, job) or _unready(db, job):
        return waits
    alive = live_runs.alive(db)
    runs = alive or live_runs.newest(db, 1)
    if closed := _closed(db, job, known, runs):
        return closed
    # The latest run has left what it does not know, and so would the next one like it.
    if stranger := absence([scope for _, scope in of_live_runs(db, runs)], _candidate(job)):
        return f"{_WAITS}{stranger.reason}"
    if not alive:
        missing = _absence_of(runs)
        return f"is ready, but nothing is running{missing}; start a run: python launcher.py"
    ahead = int(db.fetch_all("jobs_ahead", id=job["id"], many=MANY)[0]["jobs"])
    number = f"{ahead:,}" if ahead < MANY else f"{MANY:,} or more"
    return f"is ready, and {number} ready {'job comes' if ahead == 1 else 'jobs come'} before it"


def _early_seconds(db: Database, job: Row) -> float:
    """Say how long a job still waits for its time; 0 or less when that has come."""
    if job["not_before"] is None:
        return 0.0
    return float(db.fetch_all("times_of_job", id=job["id"])[0]["due_seconds"])


def _absence_of(runs: Sequence[RunState]) -> str:
    """Say what became of the latest run, which should be at work."""
    for run in runs:
        name = f"run {run.run_id} on {run.host}"
        if run.life is Life.GONE:
            return f": the launcher of {name} was killed"
        if run.life is Life.SILENT:
            return f": {name} has been silent for {run.silent_seconds:.0f} s"
    return ""


def _behind(db: Database, job: Row) -> str | None:
    """Say which job of its order comes first, or failed, if it is in one."""
    candidate = _candidate(job)
    if (order := turns.order_of(db, candidate)) is None:
        return None
    match turns.judge(db, candidate, order):
        case Stopped(reason):
            return f"will fail when it is tried: {reason}"
        case ClosedKey(reason=reason):
            return f"{_WAITS}{reason}"
    return None


def _unready(db: Database, job: Row) -> str | None:
    """Say why the profile or account that a job asks for is not ready, if it asks for one."""
    try:
        wanted = manifest.read(_candidate(job))
    except PayloadError as error:
        return f"will fail when it is tried: {error}"
    if not wanted.has_owner:
        return None
    try:
        refusal = look(db, wanted)
    except Unresolvable as error:
        return f"will fail when it is tried: {error}"
    return None if refusal is None else _waits(refusal.closed_key)


def _closed(
    db: Database,
    job: Row,
    known: Mapping[str, ClosedKey] | None,
    runs: Sequence[RunState] | None = None,
) -> str | None:
    onlooker = of_onlookers(db, runs)
    if known is None:
        closures = ClosedKeys(db, onlooker)
        closures.refresh()
        known = closures.closed
    for key in onlooker.keys_of(_candidate(job)):
        if (closed := known.get(key)) is not None:
            return _waits(closed)
    return None


def _waits(closed: ClosedKey) -> str:
    opens = "" if closed.seconds is None else f"; next check in {max(0.0, closed.seconds):.0f} s"
    return f"{_WAITS}{closed.reason}{opens}"


def _candidate(job: Row) -> Candidate:
    return Candidate(
        job_id=job["id"],
        version="",
        fence=job["fence"],
        attempts=job["attempts"],
        max_attempts=job["max_attempts"],
        task=as_compared(job["task"]),
        payload=job["payload"],
        timeout_seconds=job["timeout_seconds"],
        was_done=False,
        site=host_or_none(job["site"]),
        profile_id=job["profile"],
        account_id=job["account"],
        order_place=job["order_place"],
        queue=as_compared(job["queue"]),
    )


def _reason(db: Database, job: Row) -> str:
    row = db.fetch_one("last_reason", id=job["id"], fence=job["fence"])
    if row is not None and row["reason"]:
        return str(row["reason"])
    return last_error_line(job["last_error"]) or NO_REASON


def _utc(value: object) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}Z" if value is not None else "an unknown time"
