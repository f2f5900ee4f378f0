"""For whoever watches the dashboard itself: is it alive, and does the database answer?"""

from __future__ import annotations

from flask import Blueprint, Response

from worker.dashboard.services import database
from worker.errors import NightshiftError

pages = Blueprint("health", __name__)


@pages.get("/healthz")
def alive() -> Response:
    """Say that the process answers."""
    return Response("ok\n", mimetype="text/plain")


@pages.get("/readyz")
def ready() -> Response:
    """Say whether the database answers too; 503 when it does not."""
    try:
        database().ping()
    except NightshiftError:
        return Response("the database does not answer\n", 503, mimetype="text/plain")
    return Response("ok\n", mimetype="text/plain")
