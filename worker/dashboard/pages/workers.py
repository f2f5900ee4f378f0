"""*Workers and runs*: who is at work, what each came to, and how every run ended."""

from __future__ import annotations

from datetime import timedelta

from flask import Blueprint, abort, render_template

from worker.dashboard import filters
from worker.dashboard.facts import WEEK, Facts
from worker.dashboard.overview import RANGES, look
from worker.dashboard.services import database, facts, paused, told_at
from worker.recovery import live_runs
from worker.reporting import figures
from worker.reporting.events import Kind
from worker.reporting.spans import DAY, HOUR

MOST_RUNS = 25

pages = Blueprint("workers", __name__)


@pages.get("/workers")
def page() -> str:
    """Show the workers of live and dead runs, and the latest runs."""
    db, known = database(), facts()
    runs = live_runs.newest(db, MOST_RUNS + 1, filters.number("before"))
    now = look(db, known, paused(), RANGES["1h"])
    told_at(now.at)
    return render_template(
        "workers.html",
        now=now,
        runs=runs[:MOST_RUNS],
        counted=_counted(known),
        older=runs[MOST_RUNS - 1].run_id if len(runs) > MOST_RUNS else None,
    )


def _counted(known: Facts) -> dict[int, dict[str, float]]:
    """Add up what ended in the runs of the last week that wrote no summary: at work, or killed."""
    found: dict[int, dict[str, float]] = {}
    for each in known.workers.get(WEEK, ()):
        ended = found.setdefault(each.run_id, {"done": 0, "failed": 0})
        ended["done"] += each.figures.done
        ended["failed"] += each.figures.failed
    return found


@pages.get("/runs/<int:run_id>")
def run(run_id: int) -> str:
    """Show one run: what each of its workers came to, and how each of them ended."""
    db, known = database(), facts()
    found = [each for each in live_runs.newest(db, 1, run_id + 1) if each.run_id == run_id]
    if not found:
        abort(404, f"There is no run {run_id}.")
    the_run = found[0]
    told_at(known.at)
    until = the_run.over_at or known.at + timedelta(minutes=1)
    # Whole hours or days take fewer statements, and other runs in them are left out.
    span = HOUR if until - the_run.started_at < timedelta(days=2) else DAY
    told = figures.per_worker(db, span.floor(the_run.started_at), span.ceil(until))
    slots = [each for each in told if each.run_id == run_id]
    lives = [
        event for event in known.events if event.kind is Kind.WORKER and event.run_id == run_id
    ]
    return render_template(
        "run.html",
        run=the_run,
        slots=slots,
        lives=lives,
        seconds=max((until - the_run.started_at).total_seconds(), 1.0),
    )
