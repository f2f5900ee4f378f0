"""*Profiles*: states, leases, and the ones that wait for a person: clear, quarantine, check out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from flask import Blueprint, render_template, request, url_for
from werkzeug.wrappers import Response

from worker.dashboard import filters
from worker.dashboard.deeds import Done, author, do, said_reason
from worker.dashboard.guards import operators_only
from worker.dashboard.services import database, facts, services, told_at
from worker.dashboard.wording import duration
from worker.database.client import Row
from worker.errors import SettingsError, UsageError
from worker.flags import parse_duration
from worker.history.todo import Item
from worker.installation import command_line
from worker.profiles import other_sessions, store
from worker.profiles.doubts import HALF_DONE
from worker.profiles.states import State

MOST_PROFILES = 200
# In these a person may clear it.
SET_ASIDE = (State.REVIEW_REQUIRED, State.QUARANTINED, State.STALE, State.DISABLED)
# So many jobs that may be half done are named.
MOST_JOBS = 500
LONGEST_CHECKOUT_SECONDS = 30 * 86400.0

pages = Blueprint("profiles", __name__)


@dataclass(slots=True)
class Waiting:
    """What clearing a profile lets go on, as `profiles clear` tells it."""

    jobs: int = 0
    # The numbers of the jobs that may be half done: tried again when it is clear, or in error.
    tried_again: list[int] = field(default_factory=list)
    stay_errors: list[int] = field(default_factory=list)


@pages.get("/profiles")
def page() -> str:
    """List profiles: first what waits for a person, as `todo` lists it, then the others by name."""
    db = database()
    known = facts()
    told_at(known.at)
    state = filters.choice("state", [state.value for state in State], "") or None
    after = request.args.get("after", "")[:64]
    rows = db.fetch_all("profiles_by_name", state=state, after=after, limit=MOST_PROFILES + 1)
    items = [item for item in known.todo.items if item.kind in ("profile", "checkout")]
    review = [] if after or state else _rows_of(items[:MOST_PROFILES])
    counts, paused_accounts = store.counts(db)
    clearable = [*(row for _, row in review), *rows[:MOST_PROFILES]]
    return render_template(
        "profiles.html",
        rows=rows[:MOST_PROFILES],
        next_after=rows[MOST_PROFILES - 1]["id"] if len(rows) > MOST_PROFILES else None,
        review=review,
        to_review=len({item.name for item in items}),
        waiting=_waiting([row["id"] for row in clearable if row["state"] in SET_ASIDE], items),
        is_lower_bound=known.todo.is_lower_bound,
        at=known.at,
        counts=counts,
        paused_accounts=paused_accounts,
        state=state,
    )


def _rows_of(items: Sequence[Item]) -> list[tuple[Item, Row]]:
    names = tuple({item.name for item in items})
    found = database().fetch_all("profiles_named", ids=names) if names else []
    rows = {row["id"]: row for row in found}
    # One that was removed since is nobody's business.
    return [(item, rows[item.name]) for item in items if item.name in rows]


def _waiting(names: Sequence[str], items: Sequence[Item]) -> dict[str, Waiting]:
    """Tell of each profile what its clearing would let go on."""
    told = {name: Waiting() for name in names}
    for item in items:
        if item.name in told:
            told[item.name].jobs = item.jobs
    found = (
        database().fetch_all(
            "half_done_in_profiles", ids=tuple(told), half_done=f"%{HALF_DONE}%", limit=MOST_JOBS
        )
        if told
        else []
    )
    for row in found:
        waiting = told[row["profile_id"]]
        (waiting.tried_again if row["is_pending"] else waiting.stay_errors).append(row["id"])
    return told


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
        try:
            unknown = other_sessions.refuse(database(), profile_id, services().config.state_dir)
        except SettingsError as error:
            raise UsageError(str(error)) from None
        store.check_out(
            database(), profile_id, person=author(), seconds=seconds, reason=said_reason()
        )
        where = command_line("profiles", "show", profile_id)
        said = f"{profile_id} is yours for {duration(seconds)}. Where it is: {where}"
        return Done(1, f"{said}. But {unknown}." if unknown else said)

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
