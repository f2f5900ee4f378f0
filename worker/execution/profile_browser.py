"""A profile's browser for a command that holds the profile: opened, closed, and what is left of it.

As for a job, what a local profile's folder has lost is not silently made anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from worker.browser.browser_version import version_of
from worker.browser.session import BrowserSession
from worker.database.client import Database, Row
from worker.errors import ProviderError
from worker.profiles import faces, hosts, own_folder, presence, vendor_sessions
from worker.profiles.errands import Errand
from worker.profiles.presence import MISSING
from worker.profiles.specs import spec_of


@contextmanager
def opened(
    db: Database, profile: Row, held: Errand, session: BrowserSession, by: str
) -> Iterator[BrowserSession]:
    """Have a held profile's browser open; raises ProviderError or LaunchFailed if it is not.

    The errand is told what a person has to see, and what may still run.
    """
    _require_contents(db, profile, held)
    hosts.adopt(db, profile, by=by)
    version = version_of(session.options)
    spec = faces.put_on(db, profile, spec_of(db, profile), version)
    spec = vendor_sessions.kept_with(db, spec, held.fence)
    try:
        session.open_profile(spec)
        presence.opened(db, profile)
        yield session
    finally:
        session.close_profile()
        session.close()
        held.left_running = session.providers.get(spec.provider).left_running(spec)
    presence.note(db, profile)


def _require_contents(db: Database, profile: Row, held: Errand) -> None:
    try:
        own_folder.require(db, profile)
        if profile["contents"] != MISSING:
            # Who brings cookies into one that is known to have lost them sets it right.
            presence.require(db, profile)
    except ProviderError as error:
        held.review = str(error)
        raise
