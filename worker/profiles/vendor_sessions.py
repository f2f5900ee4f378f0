"""What vendors have started by names of their own, kept with the profile until it is stopped.

It is written under the fence of the lease before the browser is used. Whoever finds the profile
stale after its worker's death, on whichever host, stops the browser by it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from worker.browser.providers.spec import ProfileSpec
from worker.database.best_effort import best_effort
from worker.database.client import Database
from worker.errors import LeaseLost

# A browser that cannot be kept in mind is not used: the job is handed back.
KEEP_SECONDS = 10.0
# What is not forgotten is stopped once more than needed, and that does no harm.
FORGET_SECONDS = 3.0


def kept_with(db: Database, spec: ProfileSpec, fence: int) -> ProfileSpec:
    """Let whoever opens a held profile keep the session that its vendor starts."""
    started: list[str] = [spec.session] if spec.session is not None else []

    def keep(session: str) -> None:
        started.append(session)
        row: dict[str, Any] = {"id": spec.profile_id, "fence": fence, "session": session}
        with db.patience(KEEP_SECONDS):
            is_kept = db.execute("keep_vendor_session", **row) == 1
            if not is_kept and not db.fetch_all("vendor_session_is_kept", **row):
                raise LeaseLost(str(spec.profile_id), fence)

    def forget() -> None:
        for session in started:
            _forget(db, spec, session)
        started.clear()

    return replace(spec, keep_session=keep, forget_session=forget)


def forgotten_with(db: Database, spec: ProfileSpec) -> ProfileSpec:
    """Let whoever stops a profile's browser forget the session that was kept."""

    def forget() -> None:
        if spec.session is not None:
            _forget(db, spec, spec.session)

    return replace(spec, forget_session=forget)


def _forget(db: Database, spec: ProfileSpec, session: str) -> None:
    with best_effort(
        db,
        f"the session of profile {spec.profile_id} was not forgotten",
        patience_seconds=FORGET_SECONDS,
    ):
        db.execute("forget_vendor_session", id=spec.profile_id, session=session)
