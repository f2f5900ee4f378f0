"""Doing what an operator has asked for: audited, with what came of it told on the next page."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from flask import flash, redirect, request
from werkzeug.wrappers import Response

from worker.dashboard.services import database, services, user
from worker.errors import NightshiftError, UsageError
from worker.evidence.redaction import redact_text
from worker.history import audit
from worker.history.audit import Deed

# A path of ours with its filters; never another site's address.
_LOCAL = re.compile(r"/(?![/\\])[\w/.%-]*(\?[\w=&%.:+~-]*)?(#[\w-]*)?")


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a deed: to how many things it was done, and what to say."""

    count: int
    said: str


def do(action: str, scope: str, work: Callable[[], Done], fallback: str) -> Response:
    """Do something under the audit's eyes, then lead back to where it was asked for.

    What cannot be done is told there, and kept in the audit too.
    """
    db = database()
    deed = Deed(
        who=user().name,
        role=user().role.value,
        action=action,
        scope=scope,
        reason=reason(),
        address=request.remote_addr or "",
    )
    number = audit.begin(db, deed)
    try:
        done = work()
    except UsageError as error:
        done = Done(0, f"Nothing was done: {redact_text(str(error))}")
        flash(done.said, "bad")
    except NightshiftError as error:
        audit.end(db, number, count=0, outcome=f"broke off: {redact_text(str(error))}")
        raise
    else:
        flash(done.said, "ok")
    audit.end(db, number, count=done.count, outcome=done.said)
    services().facts.forget()
    services().queues.forget()
    return redirect(where(fallback), 303)


def reason() -> str:
    """Give the reason that was typed in, without secrets that do not belong there."""
    return redact_text(request.form.get("reason", "").strip()[:255])


def said_reason() -> str:
    """Give the reason, or that there was none."""
    return reason() or "by hand, in the dashboard"


def author() -> str:
    """Name who acts, as the tables that commands write keep it."""
    return f"{user().name} (dashboard)"


def where(fallback: str) -> str:
    """Lead back to the page that the form was on, if that is one of ours."""
    asked = request.form.get("back", "")
    return asked if _LOCAL.fullmatch(asked) else fallback
