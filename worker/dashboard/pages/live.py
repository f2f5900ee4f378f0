"""*Live*: the wall of what every worker sees."""

from __future__ import annotations

from flask import Blueprint, render_template

from worker.dashboard.overview import RANGES, look
from worker.dashboard.services import database, facts, paused, told_at

pages = Blueprint("live", __name__)


@pages.get("/live")
def page() -> str:
    """Show each worker with what it is at."""
    now = look(database(), facts(), paused(), RANGES["1h"])
    told_at(now.at)
    return render_template("live.html", now=now)
