"""The app factory: guards, filters, pages and what to say when something is wrong."""

from __future__ import annotations

import logging
import time
import traceback
from datetime import timedelta
from typing import Any

from flask import Flask, Response, g, jsonify, make_response, render_template, request
from werkzeug.exceptions import HTTPException

from worker.dashboard import facts, guards, pictures, services
from worker.dashboard.config import DashboardConfig
from worker.dashboard.connections import Connections
from worker.dashboard.keeper import Keeper
from worker.dashboard.pages import ALL_PAGES
from worker.dashboard.people import People
from worker.dashboard.queue_facts import QueueWatch
from worker.dashboard.sessions import Sessions
from worker.dashboard.sign_in_limit import SignInLimit
from worker.dashboard.wall import Wall
from worker.dashboard.wording import FILTERS, Clock
from worker.errors import DatabaseUnavailable, UsageError
from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import printable, visible_json
from worker.installation import as_typed, command_line
from worker.system import live_wall

SESSION_HOURS = 12
MOST_FORM_BYTES = 64 * 1024
MENU = (
    ("overview.page", "Overview"),
    ("live.page", "Live"),
    ("errors.page", "Errors"),
    ("jobs.page", "Jobs"),
    ("queues.page", "Queues"),
    ("workers.page", "Workers"),
    ("timeline.page", "Timeline"),
    ("profiles.page", "Profiles"),
    ("limits.page", "Limits"),
    ("reports.page", "Reports"),
    ("audit.page", "Audit"),
)

_FIT = {"text/html": printable, "application/json": visible_json}

logger = logging.getLogger("nightshift.dashboard")


def create_app(config: DashboardConfig) -> Flask:
    """Make the dashboard; it connects to the database with the first request."""
    app = Flask(__name__)
    people = People(config.users_file)
    connections = Connections(config.database, config.statement_seconds)
    app.extensions[services.NAME] = services.Services(
        config=config,
        people=people,
        sessions=Sessions(
            config.users_file.with_stem(f"{config.users_file.stem}-sessions"), SESSION_HOURS * 3600
        ),
        connections=connections,
        facts=Keeper(connections, lambda db: facts.gather(db, config.zone)),
        queues=Keeper(connections, QueueWatch().gather),
        sign_ins=SignInLimit(config.sign_ins, config.sign_in_window_seconds),
        clock=Clock(config.zone, config.zone_name),
        wall=Wall(live_wall.folder_of(config.state_dir, config.database.key)),
    )
    app.config.update(
        SECRET_KEY=people.signing_key(),
        SESSION_COOKIE_NAME="nightshift",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_SECURE=config.is_https,
        PERMANENT_SESSION_LIFETIME=timedelta(hours=SESSION_HOURS),
        MAX_CONTENT_LENGTH=MOST_FORM_BYTES,
        SEND_FILE_MAX_AGE_DEFAULT=3600,
    )
    guards.install(app)
    _teach_templates(app)
    for blueprint in ALL_PAGES:
        app.register_blueprint(blueprint)
    app.register_error_handler(HTTPException, _refused)
    app.register_error_handler(DatabaseUnavailable, _away)
    app.register_error_handler(UsageError, _not_so)
    app.register_error_handler(Exception, _broken)
    app.before_request(_begin)
    app.after_request(_measure)
    app.after_request(_make_fit)
    return app


def _teach_templates(app: Flask) -> None:
    app.jinja_env.filters.update(FILTERS)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    clock: Clock = app.extensions[services.NAME].clock
    for name in ("hour", "second", "second_of", "day", "near", "iso", "after"):
        app.jinja_env.filters[name] = getattr(clock, name)
    app.jinja_env.globals.update(
        mark=pictures.mark,
        definitions=pictures.definitions,
        meter=pictures.meter,
        form_token=guards.csrf_token,
        command_line=command_line,
        menu=MENU,
    )
    app.context_processor(_of_every_page)


def _of_every_page() -> dict[str, Any]:
    found = services.services()
    return {
        "user": g.get("user"),
        "has_users": found.people.has_users(),
        "config": found.config,
        "clock": found.clock,
        "told_at": g.get("told_at"),
        "pauses": services.pauses,
        "facts": services.facts,
    }


def _begin() -> None:
    g.began = time.perf_counter()


def _measure(response: Response) -> Response:
    """Tell how long the page took and how many statements it made, in the usual header."""
    if "began" in g:
        took = (time.perf_counter() - g.began) * 1000
        db = g.get("db")
        statements = db.statements if db is not None else 0
        response.headers["Server-Timing"] = f'app;dur={took:.1f}, db;desc="{statements}"'
    return response


def _make_fit(response: Response) -> Response:
    """Leave nothing on a page that turns its text around, and name commands as they are typed here.

    It looks at the whole page: a stranger's text is fit for people whatever way it came there.
    """
    # A stream is a file's content and stays as it is.
    if response.mimetype in _FIT and response.is_sequence:
        page = response.get_data(as_text=True)
        if (told := _FIT[response.mimetype](as_typed(page))) is not page:
            response.set_data(told)
    return response


def _refused(error: HTTPException) -> Response:
    code = error.code or 500
    return _say(code, str(error.name), str(error.description or ""))


def _not_so(error: UsageError) -> Response:
    return _say(400, "That cannot be done", redact_text(str(error)))


def _away(error: DatabaseUnavailable) -> Response:
    told = redact_text(str(error))
    logger.warning("the database does not answer: %s", told)
    return _say(503, "Get up: the database does not answer.", told)


def _broken(error: Exception) -> Response:
    """Keep a bug of ours in the log, without the secrets that its texts may hold."""
    told = "".join(traceback.format_exception(error))
    logger.error("%s %s broke: %s", request.method, request.path, redact_text(told))
    return _say(500, "Cannot tell.", "Something broke while this page was made; the log says what.")


def _say(code: int, title: str, text: str) -> Response:
    if request.path.startswith("/api/"):
        answer: Response = jsonify({"error": text or title})
        answer.status_code = code
        return answer
    return make_response(render_template("refused.html", code=code, title=title, text=text), code)
