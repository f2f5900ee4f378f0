"""*Job*: what happened to one job, attempt by attempt, with the evidence of each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from worker.claiming.why import NOT_RUNNING, sentence_about
from worker.dashboard import charting, evidence_files, evidence_zip, html_changes
from worker.dashboard.deeds import Done, author, do, reason
from worker.dashboard.evidence_files import FILES
from worker.dashboard.guards import operators_only
from worker.dashboard.services import database, facts, pauses, services, told_at
from worker.database.client import Row
from worker.errors import UsageError
from worker.evidence import masked_job
from worker.history import archive, dead_letters, freed_keys
from worker.history.archive import Label
from worker.history.dead_letters import Scope
from worker.queue import added_jobs
from worker.queue.claims import Queue
from worker.queue.settlements import half_done_at
from worker.recovery import live_runs
from worker.reporting.events import Kind

# No script, no form, no address of its own, nothing from anywhere: the page as it was, and inert.
SANDBOX = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "frame-ancestors 'self'"
)

pages = Blueprint("job", __name__)


@pages.get("/jobs/<int:job_id>")
def page(job_id: int) -> str:
    """Show one job."""
    job, history = find(job_id)
    known = facts()
    told_at(known.at)
    shown, attempts = masked_job.masked(job, history)
    chosen = _chosen(attempts)
    errors_dir = services().config.errors_dir
    said = sentence_about(database(), shown, attempts, known.closed, pauses())
    return render_template(
        "job.html",
        job=shown,
        attempts=attempts,
        chosen=chosen,
        evidence=evidence_files.look(chosen, errors_dir),
        why=services().clock.localised(said),
        is_abandoned=said.startswith(f"job {job_id} {NOT_RUNNING}"),
        group=known.group(job["fingerprint"]) if job["status"] == "error" else None,
        half_done=_half_done(shown),
        added=added_jobs.of_job(database(), job_id),
        attempts_drawn=charting.attempts(attempts, services().clock),
        tried_seconds=_tried_seconds(attempts),
        steps=evidence_files.steps_of(attempts, errors_dir),
        runs=_runs_of(job, attempts),
        is_archived=job.get("archived_at") is not None,
        files=FILES,
    )


@pages.get("/jobs/<int:job_id>/attempts/<int:fence>/<name>")
def file(job_id: int, fence: int, name: str) -> Response:
    """Send one file of an attempt's evidence; HTML only as text, a trace only as a download."""
    number = _opened(job_id, fence, name)
    answer = Response(_chunks(number), mimetype=None, content_type=FILES[name][1])
    answer.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    if name == "trace":
        told = f'attachment; filename="job-{job_id}-{fence}-trace.zip"'
        answer.headers["Content-Disposition"] = told
    elif name in ("screenshot", "good"):
        answer.headers["Cache-Control"] = "private, max-age=3600"
    return answer


@pages.get("/jobs/<int:job_id>/attempts/<int:fence>/<any(page, 'good-page'):name>/inert")
def inert(job_id: int, fence: int, name: str) -> Response:
    """Send a captured page for a sandboxed frame: it can run nothing and fetch nothing."""
    number = _opened(job_id, fence, name)
    answer = Response(_chunks(number), content_type="text/html; charset=utf-8")
    answer.headers["Content-Security-Policy"] = SANDBOX
    return answer


@pages.get("/jobs/<int:job_id>/attempts/<int:fence>/look")
def look(job_id: int, fence: int) -> str:
    """Show a captured page in its frame: the one that failed, or the good one before."""
    name = "good-page" if request.args.get("which") == "good" else "page"
    # Its frame must not ask for what is not there.
    os.close(_opened(job_id, fence, name))
    return render_template("captured.html", job_id=job_id, fence=fence, name=name)


@pages.get("/jobs/<int:job_id>/attempts/<int:fence>/compare")
def compare(job_id: int, fence: int) -> str:
    """Compare the HTML of the page that failed with the good one before."""
    folder = _folder(job_id, fence)
    texts = [evidence_files.read_text(folder, name) for name in ("good-page", "page")]
    if not all(texts):
        abort(404, "One of the two pages is not there.")
    changes = html_changes.compare(*texts)
    return render_template("compare.html", job_id=job_id, fence=fence, changes=changes)


@pages.get("/jobs/<int:job_id>/attempts/<int:fence>/everything.zip")
def everything(job_id: int, fence: int) -> Response:
    """Send all of an attempt's evidence as a download."""
    name = f"job-{job_id}-{fence}"
    packed = evidence_zip.zipped(_folder(job_id, fence), name)
    answer = Response(packed, content_type="application/zip")
    answer.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}-evidence.zip"'
    return answer


@pages.post("/jobs/<int:job_id>/retry")
@operators_only
def retry(job_id: int) -> AnyResponse:
    """Put one job in error back to pending."""
    with_half_done = request.form.get("half_done") == "yes"

    def work() -> Done:
        db = database()
        state = _in_error(job_id)
        if state["irreversible_step"] is not None and not with_half_done:
            raise UsageError(f"job {job_id} {half_done_at(state['irreversible_step'])}")
        scope = Scope(archive.now(db), ids=(job_id,), half_done=with_half_done)
        count = dead_letters.retry(db, scope)
        return Done(count, f"Job {job_id:,} is pending again.")

    return do("retry", f"job {job_id}", work, url_for("job.page", job_id=job_id))


@pages.post("/jobs/<int:job_id>/discard")
@operators_only
def discard(job_id: int) -> AnyResponse:
    """Move one job in error to the archive."""

    def work() -> Done:
        db = database()
        _in_error(job_id)
        label = Label(author(), f"discarded by {author()}" + (f": {reason()}" if reason() else ""))
        scope = Scope(archive.now(db), ids=(job_id,))
        freed = freed_keys.warning(freed_keys.find(db, scope), jobs=1)
        count = dead_letters.discard(db, scope, label)
        return Done(count, f"Job {job_id:,} is in the archive{freed and f'; {freed}'}.")

    return do("discard", f"job {job_id}", work, url_for("job.page", job_id=job_id))


def find(job_id: int) -> tuple[Row, list[Row]]:
    """Read a job of the queue or the archive with its attempts; 404 when there is none."""
    db = database()
    queue = Queue(db)
    job = queue.get(job_id)
    if job is not None:
        return job, queue.history(job_id)
    archived = archive.find(db, job_id)
    if archived is None:
        abort(404, f"There is no job {job_id:,}, neither in the queue nor in the archive.")
    return archived


def _in_error(job_id: int) -> Row:
    state = dead_letters.states(database(), [job_id]).get(job_id)
    if state is None or state["status"] != "error":
        told = "not in the queue" if state is None else f"{state['status']}, not in error"
        raise UsageError(f"job {job_id} is {told}")
    return state


def _chosen(attempts: list[Row]) -> Row | None:
    """Take the attempt that the address names, or else the last one with evidence."""
    asked = request.args.get("attempt", "")
    for row in attempts:
        if asked == str(row["fence"]):
            return row
    with_evidence = [row for row in attempts if row["evidence"]]
    found = with_evidence or attempts
    return found[-1] if found else None


def _runs_of(job: Row, attempts: list[Row]) -> dict[int, list[int]]:
    """Tell which runs tried a job, and with which of their workers."""
    tries = attempts or [job]
    slots = {row["incarnation"]: row["worker_id"] for row in tries if row.get("incarnation")}
    known = {
        event.detail.get("incarnation"): event.run_id
        for event in facts().events
        if event.kind is Kind.WORKER
    }
    runs = {each: known[each] for each in slots if each in known}
    # Of a job that waits or runs there is more to ask; what it was at is of today, mostly.
    if len(runs) < len(slots) and job["status"] in ("done", "error"):
        runs |= live_runs.runs_of(database(), slots)
    found: dict[int, list[int]] = {}
    for incarnation, run_id in runs.items():
        slot = slots[incarnation]
        if run_id and slot is not None and slot not in found.setdefault(run_id, []):
            found[run_id].append(slot)
    return {run_id: sorted(found[run_id]) for run_id in sorted(found)}


def _tried_seconds(attempts: list[Row]) -> float | None:
    """Tell how long it took from the first attempt's beginning to the last one's end."""
    ran = [row for row in attempts if row["started_at"] and row["finished_at"]]
    return (ran[-1]["finished_at"] - ran[0]["started_at"]).total_seconds() if ran else None


def _half_done(job: Row) -> str:
    step = job["irreversible_step"]
    return half_done_at(step) if step is not None and job["status"] == "error" else ""


def _opened(job_id: int, fence: int, name: str) -> int:
    if name not in FILES:
        abort(404, "There is no such evidence.")
    number = evidence_files.open_file(_folder(job_id, fence), name)
    if number is None:
        abort(404, "That evidence is not there, or not on this machine.")
    return number


def _folder(job_id: int, fence: int) -> Path:
    """Find the folder of an attempt's evidence by job and attempt; 404 when it is not here."""
    _, history = find(job_id)
    attempt = next((row for row in history if row["fence"] == fence), None)
    folder = None
    if attempt is not None:
        folder = evidence_files.folder_of(attempt, services().config.errors_dir)
    if folder is None:
        abort(404, "That evidence is not there, or not on this machine.")
    return folder


def _chunks(number: int) -> Any:
    with os.fdopen(number, "rb") as file:
        while chunk := file.read(64 * 1024):
            yield chunk
