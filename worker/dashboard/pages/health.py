"""For whoever watches: is the dashboard alive, does the database answer, what do metrics say?"""

from __future__ import annotations

from flask import Blueprint, Response

from worker.dashboard.services import database, services
from worker.database.client import Database
from worker.errors import NightshiftError
from worker.reporting.exposition import CONTENT_TYPE
from worker.reporting.metrics import scrape

SCRAPE_SECONDS = 20.0

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


@pages.get("/metrics")
def metrics() -> Response:
    """Tell Prometheus what the database holds; where there are users, by a token."""
    settings = services().config.database
    # Over a connection of its own: a scrape may take longer than a page.
    text, _ = scrape(lambda: Database(settings, read_timeout_seconds=SCRAPE_SECONDS))
    return Response(text, content_type=CONTENT_TYPE)
