"""*Audit*: who did what by the dashboard, when, to what and to how many."""

from __future__ import annotations

from flask import Blueprint, render_template

from worker.dashboard import filters
from worker.dashboard.services import database, facts, told_at
from worker.history import audit

PAGE = 50

pages = Blueprint("audit", __name__)


@pages.get("/audit")
def page() -> str:
    """List what was done, the latest first."""
    told_at(facts().at)
    before = filters.number("before")
    rows = audit.latest(database(), PAGE + 1, before)
    older = rows[PAGE - 1]["id"] if len(rows) > PAGE else None
    return render_template("audit.html", rows=rows[:PAGE], older=older, is_first=before is None)
