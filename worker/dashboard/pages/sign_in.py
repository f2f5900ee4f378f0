"""Signing in and out."""

from __future__ import annotations

from flask import Blueprint, make_response, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from worker.dashboard.services import services

pages = Blueprint("sign_in", __name__)


@pages.get("/sign-in")
def form() -> str:
    """Ask for name and password."""
    return render_template("sign_in.html", problem=None, name="")


@pages.post("/sign-in")
def enter() -> Response:
    """Open a session, unless name or password is wrong or there were too many tries."""
    name, password = request.form.get("name", "")[:64], request.form.get("password", "")[:1024]
    limit = services().sign_ins
    keys = (f"name {name}", f"address {request.remote_addr}")
    if (wait := limit.wait_seconds(*keys)) > 0:
        told = f"Too many tries. Wait {wait:.0f} s, then try again."
        refused = make_response(render_template("sign_in.html", problem=told, name=name), 429)
        refused.headers["Retry-After"] = f"{wait + 1:.0f}"
        return refused
    # Counted before the look, so that many at once are no way around it.
    limit.note_failure(*keys)
    user = services().people.check(name, password)
    if user is None:
        told = "That name and password do not belong together."
        return make_response(render_template("sign_in.html", problem=told, name=name), 403)
    limit.note_success(*keys)
    session.clear()
    session["id"] = services().sessions.open(user)
    session.permanent = True
    return redirect(url_for("overview.page"), 303)


@pages.post("/sign-out")
def leave() -> Response:
    """End the session, here as well as in the browser: a copy of its cookie ends too."""
    services().sessions.end(str(session.get("id", "")))
    session.clear()
    return redirect(url_for("sign_in.form"), 303)
