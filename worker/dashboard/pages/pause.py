"""Pause and resume, from every page."""

from __future__ import annotations

from flask import Blueprint, url_for
from werkzeug.wrappers import Response

from worker.dashboard.deeds import Done, author, do, said_reason
from worker.dashboard.guards import operators_only
from worker.dashboard.services import database
from worker.queue import pause as pausing

pages = Blueprint("pause", __name__)


@pages.post("/pause")
@operators_only
def pause() -> Response:
    """Let no run on this database claim anything more."""

    def work() -> Done:
        pausing.pause(database(), said_reason(), author())
        return Done(1, "Paused: running jobs finish, and no run claims new ones.")

    return do("pause", "all runs on this database", work, url_for("overview.page"))


@pages.post("/resume")
@operators_only
def resume() -> Response:
    """Let runs claim again."""

    def work() -> Done:
        was_paused = pausing.resume(database(), author())
        return Done(int(was_paused), "Resumed." if was_paused else "Nothing was paused.")

    return do("resume", "all runs on this database", work, url_for("overview.page"))
