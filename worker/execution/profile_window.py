"""A local profile's browser on a person's screen: opened behind its proxy, until they close it.

The person's lease is taken before and released here, when the browser is closed or did not open.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from worker.browser.browser_version import version_of
from worker.browser.options import BrowserOptions, find_full_browser
from worker.browser.screen import require_display
from worker.browser.session import BrowserSession
from worker.database.client import Database, Row
from worker.errors import LeaseLost, ProviderError
from worker.profiles import faces, hosts, lease_endings, own_folder, presence
from worker.profiles.presence import MISSING
from worker.profiles.specs import spec_of

LOOK_SECONDS = 0.3


def require_screen(browser: str | None, environment: Mapping[str, str]) -> str | None:
    """Find a Chromium with windows, and a display for them; raises LaunchFailed without."""
    require_display(environment)
    return find_full_browser(browser)


def show(
    db: Database,
    profile: Row,
    fence: int,
    *,
    executable: str | None,
    by: str,
    on_open: Callable[[], None],
) -> None:
    """Open a checked-out profile for a person and wait until they close it; then return it.

    Raises ProviderError or LaunchFailed when it does not open; the profile is returned then, too.
    """
    review = left = None
    try:
        left = _until_closed(db, profile, executable, by, on_open)
    except ProviderError as error:
        review = str(error) if error.kind in ("missing", "shared") else None
        raise
    finally:
        # Somebody may have returned it meanwhile.
        with suppress(LeaseLost):
            lease_endings.release(
                db,
                profile["id"],
                fence,
                author=by,
                reason="its browser was closed",
                review=review,
                left_running=left,
            )


def _until_closed(
    db: Database, profile: Row, executable: str | None, by: str, on_open: Callable[[], None]
) -> str | None:
    """Have the browser open until it is closed; say why it may still run, if it may."""
    own_folder.require(db, profile)
    if profile["contents"] != MISSING:
        # Who opens one that is known to miss something does so to set it right.
        presence.require(db, profile)
    hosts.adopt(db, profile, by=by)
    with tempfile.TemporaryDirectory(prefix="nightshift-") as folder:
        tmp_dir = Path(folder) / "browser"
        options = BrowserOptions(tmp_dir, executable, headless=False, for_person=True)
        spec = faces.put_on(db, profile, spec_of(db, profile), version_of(options))
        session = BrowserSession(options)
        try:
            session.open_profile(spec)
            presence.opened(db, profile)
            on_open()
            while session.is_alive:
                time.sleep(LOOK_SECONDS)
        except KeyboardInterrupt:
            # A person's way to close it, too; what was begun is ended in good order.
            pass
        finally:
            session.close_profile()
            session.close()
        presence.note(db, profile)
        return session.providers.get(spec.provider).left_running(spec)
