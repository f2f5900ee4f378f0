"""*Limits and breakers*: what may run, how often, what is left alone, what is held back."""

from __future__ import annotations

from flask import Blueprint, render_template, request, url_for
from werkzeug.wrappers import Response

from worker.dashboard.deeds import Done, author, do, said_reason
from worker.dashboard.guards import operators_only
from worker.dashboard.services import database, facts, told_at
from worker.database.client import Row
from worker.guards import breakers as breaking
from worker.guards import limits as limiting
from worker.guards import pace
from worker.guards.pace import Pace
from worker.proxies import store as proxies

MOST_BREAKERS = 200

pages = Blueprint("limits", __name__)


@pages.get("/limits")
def page() -> str:
    """Show every limit, the breakers that are not closed, and the proxies."""
    db, known = database(), facts()
    told_at(known.at)
    breakers = [
        (row, closed)
        for row, closed in breaking.all_breakers(db)
        if row["state"] != "closed" or row["held"] or request.args.get("all") == "1"
    ]
    return render_template(
        "limits.html",
        limits=[(row, _caps(row), closed) for row, closed in limiting.all_limits(db)],
        breakers=breakers[:MOST_BREAKERS],
        proxies=proxies.all_proxies(db),
        held=known.held,
        jobs_held={item.key: item.jobs for item in known.held},
    )


@pages.post("/breakers/close")
@operators_only
def close() -> Response:
    """Let jobs of a key be claimed again, now."""
    key = request.form.get("key", "")[:300]

    def work() -> Done:
        breaking.close_by_hand(database(), key, keep=False, by=author())
        return Done(1, f"The breaker of {key} is closed.")

    return do("close breaker", key, work, url_for("limits.page"))


@pages.post("/breakers/open")
@operators_only
def open_() -> Response:
    """Let no job of a key be claimed until somebody closes its breaker."""
    key = request.form.get("key", "").strip()[:300]

    def work() -> Done:
        breaking.open_by_hand(database(), key, None, said_reason(), author())
        return Done(1, f"No job of {key} is claimed until its breaker is closed.")

    return do("open breaker", key, work, url_for("limits.page"))


@pages.post("/limits/clear")
@operators_only
def clear() -> Response:
    """Remove the limit of a key."""
    key = request.form.get("key", "")[:300]

    def work() -> Done:
        had_one = limiting.clear_limit(database(), key)
        return Done(int(had_one), f"{key} {'no longer has' if had_one else 'had no'} limit.")

    return do("clear limit", key, work, url_for("limits.page"))


def _caps(row: Row) -> str:
    paced = Pace(row["per_hour"], row["per_day"], pace.warm_up_of(row))
    caps = [] if row["concurrent"] is None else [f"{row['concurrent']} at once"]
    caps += [] if row["per_minute"] is None else [f"{row['per_minute']:g} per minute"]
    caps += [] if paced.per_hour is None else [f"{paced.per_hour} per hour"]
    caps += [] if paced.per_day is None else [f"{paced.per_day} per day"]
    caps += [] if paced.warm_up is None else [str(paced.warm_up)]
    return " and ".join(caps)
