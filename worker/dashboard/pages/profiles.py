"""*Profiles*: states, leases, and the ones that wait for a person: clear, quarantine, check out."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, render_template, request, url_for
from werkzeug.wrappers import Response

from worker.dashboard.deeds import Done, author, do, said_reason
from worker.dashboard.guards import operators_only
from worker.dashboard.services import database, facts, told_at
from worker.dashboard.wording import duration
from worker.errors import UsageError
from worker.flags import parse_duration
from worker.profiles import store
from worker.profiles.states import State

MOST_PROFILES = 200
SET_ASIDE = (State.REVIEW_REQUIRED, State.QUARANTINED, State.STALE)
LONGEST_CHECKOUT_SECONDS = 30 * 86400.0

pages = Blueprint("profiles", __name__)


@pages.get("/profiles")
def page() -> str:
    """List profiles: first what waits for a person, then the others by name."""
    db = database()
    told_at(facts().at)
    asked = request.args.get("state", "")
    state = asked if asked in set(State) else None
    after = request.args.get("after", "")[:64]
    rows = db.fetch_all("profiles_by_name", state=state, after=after, limit=MOST_PROFILES + 1)
    review = [] if after else db.fetch_all("profiles_to_review", limit=MOST_PROFILES)
    counts, paused_accounts = store.counts(db)
    return render_template(
        "profiles.html",
        rows=rows[:MOST_PROFILES],
        next_after=rows[MOST_PROFILES - 1]["id"] if len(rows) > MOST_PROFILES else None,
        review=review,
        counts=counts,
        paused_accounts=paused_accounts,
        state=state,
    )


@pages.post("/profiles/<profile_id>/clear")
@operators_only
def clear(profile_id: str) -> Response:
    """Let a profile that was set aside be used again."""
    return _set(profile_id, State.AVAILABLE, "clear", "may be used again.")


@pages.post("/profiles/<profile_id>/quarantine")
@operators_only
def quarantine(profile_id: str) -> Response:
    """Let no job use a profile until somebody clears it."""
    return _set(profile_id, State.QUARANTINED, "quarantine", "is quarantined.")


@pages.post("/profiles/<profile_id>/check-out")
@operators_only
def check_out(profile_id: str) -> Response:
    """Give a profile to the person who asks, for a while."""

    def work() -> Done:
        seconds = _seconds(request.form.get("for", "1h"))
        store.check_out(
            database(), profile_id, person=author(), seconds=seconds, reason=said_reason()
        )
        where = f"launcher.py profiles show {profile_id}"
        return Done(1, f"{profile_id} is yours for {duration(seconds)}. Where it is: {where}")

    return _done("check out", profile_id, work)


@pages.post("/profiles/<profile_id>/return")
@operators_only
def give_back(profile_id: str) -> Response:
    """End a person's hold on a profile."""

    def work() -> Done:
        store.give_back(database(), profile_id, by=author())
        return Done(1, f"{profile_id} was returned.")

    return _done("return", profile_id, work)


def _set(profile_id: str, state: State, action: str, said: str) -> Response:
    def work() -> Done:
        store.set_state(database(), profile_id, state, reason=said_reason(), by=author())
        return Done(1, f"{profile_id} {said}")

    return _done(action, profile_id, work)


def _done(action: str, profile_id: str, work: Any) -> Response:
    return do(action, f"profile {profile_id}", work, url_for("profiles.page"))


def _seconds(text: str) -> float:
    try:
        seconds = parse_duration(text.strip()[:20])
    except ValueError as error:
        raise UsageError(f"for how long: {error}") from None
    if not 1 <= seconds <= LONGEST_CHECKOUT_SECONDS:
        raise UsageError("a checkout lasts from one second to 30 days")
    return seconds
