"""*Jobs*: every job by state; filters are in the address; searched by id, key and payload."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from worker.dashboard import filters, job_list
from worker.dashboard.job_list import State, Wanted
from worker.dashboard.services import database, facts, told_at
from worker.errors import UsageError

# What the address of the next page, or of another state, says again.
KEPT = ("state", "task", "site", "group", "text", "queue", "batch", "parent", "list")

pages = Blueprint("jobs", __name__)


@pages.get("/jobs")
def page() -> str | Response:
    """List jobs; a search for one job's id or key leads straight to it."""
    wanted = asked_for()
    db, known = database(), facts()
    told_at(known.at)
    named = [] if wanted.after else job_list.named(db, wanted.text)
    if len(named) == 1 and request.args.get("list") is None:
        return redirect(url_for("job.page", job_id=named[0]["id"]))
    found = job_list.read(db, wanted)
    kept: dict[str, Any] = {
        name: value for name, value in request.args.items() if name in KEPT and value
    }
    return render_template(
        "jobs.html",
        wanted=wanted,
        named=named,
        found=found,
        states=_states(),
        kept=kept,
        next_url=url_for("jobs.page", **(kept | {"after": found.next})) if found.next else None,
        first_url=url_for("jobs.page", **kept) if wanted.after else None,
    )


def asked_for() -> Wanted:
    """Read what is wanted from the address; raises UsageError when it makes no sense."""
    given = request.args
    wanted = Wanted(
        state=State(filters.choice("state", [state.value for state in State], State.ALL)),
        task=given.get("task", "")[:64],
        site=given.get("site", "")[:255],
        group=given.get("group", "")[:16],
        text=given.get("text", "")[: job_list.LONGEST_SEARCH],
        queue=given.get("queue", "")[:50],
        batch=given.get("batch", "")[:100],
        parent=filters.number("parent"),
        after=given.get("after", "")[:60],
    )
    if wanted.after and not job_list.is_place(wanted):
        raise UsageError(
            f"after={filters.shown(wanted.after)} is no place in this list; take it from the page "
            "before"
        )
    return wanted


def _states() -> list[tuple[State, str, int]]:
    known = facts()
    counts = known.counts
    return [
        (State.ALL, "All", sum(counts.values())),
        (State.READY, "Ready", max(0, counts["pending"] - known.waiting)),
        (State.WAITING, "Wait for a time", known.waiting),
        (State.IN_PROGRESS, "In progress", counts["in_progress"]),
        (State.DONE, "Done", counts["done"]),
        (State.ERROR, "Failed", counts["error"]),
    ]
