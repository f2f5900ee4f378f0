"""*Live*: the wall of what every worker sees, with small pictures of their pages."""

from __future__ import annotations

from flask import Blueprint, Response, abort, render_template, request

from worker.dashboard.overview import RANGES, look
from worker.dashboard.services import database, facts, paused, services, told_at

pages = Blueprint("live", __name__)


@pages.get("/live")
def page() -> str:
    """Show each worker with its page; whoever asks for this page looks at the wall."""
    wall = services().wall
    if request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
        # Another site's link or picture must not have anything photographed.
        wall.ask()
    now = look(database(), facts(), paused(), RANGES["1h"])
    told_at(now.at)
    return render_template("live.html", now=now, panes=wall.panes(now.workers))


@pages.get("/live/<int:incarnation>.jpg")
def picture(incarnation: int) -> Response:
    """Send the last picture of a worker's page; nobody on the way may keep it."""
    found = services().wall.picture(incarnation)
    if found is None or not found.image:
        abort(404, "There is no picture of this worker now.")
    answer = Response(found.image, content_type="image/jpeg")
    answer.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    answer.headers["Cache-Control"] = "no-store, private"
    return answer
