"""What every request must pass: its host, who asks, where a form came from; and what answers carry.

Roles are checked by `operators_only` on every action. Pages are `default-src 'none'`: no inline
script or style, no frame, nothing from anybody else.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Flask, Response, abort, g, redirect, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from worker.dashboard.people import Role, User
from worker.dashboard.services import give_back, services, user

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# Reachable without signing in. None of them tells anything about jobs.
OPEN = {"sign_in.form", "sign_in.enter", "static", "health.alive", "health.ready"}
# A page is unchanged when only the time it was told at differs.
_TOLD_AT = re.compile(rb"<!--as-of-->.*?<!--/as-of-->", re.DOTALL)
LOCAL = User("local", Role.OPERATOR)


def install(app: Flask) -> None:
    """Put the guards before and behind every request."""
    app.before_request(check_host)
    app.before_request(know_who_asks)
    app.before_request(check_form)
    app.after_request(harden)
    app.after_request(answer_unchanged)
    app.teardown_request(give_back)


def operators_only(view: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse an action to everybody who may only look."""

    @wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if not user().may_act:
            abort(403, "You may look, but not act: your role is viewer.")
        return view(*args, **kwargs)

    guarded.is_for_operators = True  # type: ignore[attr-defined]
    return guarded


def csrf_token() -> str:
    """Give the secret of this session that its forms must carry."""
    if "form" not in session:
        session["form"] = secrets.token_urlsafe(24)
    return str(session["form"])


def check_host() -> None:
    """Refuse requests for other names: another site's name may be made to lead here."""
    host = request.host.lower()
    name = host.rpartition(":")[0] if re.search(r":\d+$", host) else host
    if name not in services().config.hosts:
        abort(400, "This name is not one of the dashboard's; see --allow-host.")


def know_who_asks() -> AnyResponse | None:
    """Find the user of the session or the token, or ask for a sign-in."""
    people = services().people
    g.user = None
    is_for_programs = request.path.startswith("/api/") or request.path == "/metrics"
    if is_for_programs and (token := _bearer()) is not None:
        name = people.name_of_token(token)
        if name is None:
            abort(401, "This token is not known.")
        g.user = User(f"token {name}", Role.VIEWER)
        return None
    has_to_sign_in = people.has_users() or services().config.is_shared
    g.user = _signed_in() if has_to_sign_in else LOCAL
    if g.user is not None or request.endpoint in OPEN:
        return None
    if is_for_programs:
        abort(401, "Give a token: Authorization: Bearer …")
    return redirect(url_for("sign_in.form"))


def check_form() -> None:
    """Refuse what was sent from another site, or without this session's secret."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    if not _is_from_here():
        abort(403, "This form was sent from another site.")
    sent = request.form.get("form_token", "")
    if not hmac.compare_digest(sent, str(session.get("form", "")) or secrets.token_hex()):
        abort(403, "This form is out of date; go back, reload the page and try again.")


def harden(response: Response) -> Response:
    """Add the headers that keep a page to itself; a page's own policy stands."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if "Content-Security-Policy" not in response.headers:
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Frame-Options"] = "DENY"
    if request.endpoint != "static":
        response.headers.setdefault("Cache-Control", "no-store")
    return response


def answer_unchanged(response: Response) -> Response:
    """Answer 304 when the page is as whoever polls it has it."""
    is_page = response.status_code == 200 and response.mimetype == "text/html"
    if request.method != "GET" or not is_page or response.direct_passthrough:
        return response
    told = _TOLD_AT.sub(b"", response.get_data())
    response.set_etag(hashlib.sha256(told).hexdigest()[:32])
    response.make_conditional(request)
    return response


def _is_from_here() -> bool:
    """Tell by what browsers say of a form whether it was on a page of ours."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None and site != "same-origin":
        return False
    if origin is None or (origin == "null" and site is not None):
        # Our pages tell nobody where they are (no-referrer): then browsers send `null`.
        return True
    return origin.partition("://")[2].lower() == request.host.lower()


def _bearer() -> str | None:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _signed_in() -> User | None:
    people = services().people

    def stamp_of(name: str) -> str | None:
        found = people.find(name)
        return None if found is None else found.stamp

    name = services().sessions.user_name(str(session.get("id", "")), stamp_of)
    return None if name is None else people.find(name)
