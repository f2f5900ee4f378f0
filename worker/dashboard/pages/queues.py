"""*Queues*: queues, batches and schedules: what each comes to, who works it, when it comes next."""

from __future__ import annotations

from flask import Blueprint, render_template, request, url_for
from werkzeug.wrappers import Response

from worker.dashboard import charting, filters
from worker.dashboard.deeds import Done, author, do, said_reason
from worker.dashboard.guards import operators_only
from worker.dashboard.services import database, queue_facts, told_at
from worker.dashboard.wording import counted
from worker.errors import UsageError
from worker.queue import pause as pausing
from worker.queue_names import queue_problem
from worker.scheduling import firing, schedules

PAGE = 50

pages = Blueprint("queues", __name__)


@pages.get("/queues")
def page() -> str:
    """List queues, the batches of the last day and the schedules."""
    known = queue_facts()
    told_at(known.at)
    return render_template(
        "queues.html",
        known=known,
        drawn=charting.batch,
        unfinished=[each for each in known.batches if each.is_open],
        resting=[row for row in known.schedules if row["is_paused"]],
    )


@pages.get("/queues/batches")
def batches() -> str:
    """List every batch there ever was, the newest first."""
    told_at(queue_facts().at)
    before = filters.number("before")
    rows = database().fetch_all("batches_before", before=before, limit=PAGE + 1)
    older = rows[PAGE - 1]["id"] if len(rows) > PAGE else None
    return render_template("batches.html", rows=rows[:PAGE], older=older, is_first=before is None)


@pages.post("/queues/pause")
@operators_only
def pause() -> Response:
    """Let no run claim jobs of one queue."""
    name = _queue_asked_for()

    def work() -> Done:
        if problem := queue_problem(name):
            raise UsageError(problem)
        pausing.pause(database(), said_reason(), author(), name)
        return Done(1, f"Queue {name} is paused: its running jobs finish, no run claims new ones.")

    return do("pause queue", f"queue {name}", work, url_for("queues.page"))


@pages.post("/queues/resume")
@operators_only
def resume() -> Response:
    """Let runs claim jobs of one queue again."""
    name = _queue_asked_for()

    def work() -> Done:
        was_paused = pausing.resume(database(), author(), name)
        said = "goes on." if was_paused else "was not paused by itself."
        return Done(int(was_paused), f"Queue {name} {said}")

    return do("resume queue", f"queue {name}", work, url_for("queues.page"))


@pages.post("/schedules/pause")
@operators_only
def rest() -> Response:
    """Let a schedule rest."""
    name = _schedule_asked_for()

    def work() -> Done:
        schedules.pause(database(), name)
        return Done(1, f"Schedule {name} rests until somebody resumes it.")

    return do("pause schedule", f"schedule {name}", work, url_for("queues.page"))


@pages.post("/schedules/resume")
@operators_only
def go_on() -> Response:
    """Let a schedule go on with its next time."""
    name = _schedule_asked_for()

    def work() -> Done:
        schedules.resume(database(), name)
        return Done(1, f"Schedule {name} goes on with its next time.")

    return do("resume schedule", f"schedule {name}", work, url_for("queues.page"))


@pages.post("/schedules/run-now")
@operators_only
def run_now() -> Response:
    """Add the jobs of a schedule now; its next time stays as it is."""
    name = _schedule_asked_for()

    def work() -> Done:
        fired = firing.run_now(database(), name)
        return Done(fired.jobs, f"Schedule {name} has added {counted(fired.jobs, 'job')}.")

    return do("run schedule now", f"schedule {name}", work, url_for("queues.page"))


def _queue_asked_for() -> str:
    return request.form.get("queue", "").strip()[:50]


def _schedule_asked_for() -> str:
    return request.form.get("schedule", "")[: schedules.MAX_NAME]
