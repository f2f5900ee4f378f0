"""Who is signed in, kept on this machine: an end is the end of every copy of the cookie.

The cookie holds a secret, the file only its hash. A session ends by signing out, when nobody has
used it for a while, and as soon as its user is removed or gets another password or role.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from worker.dashboard.people import User
from worker.dashboard.private_json import PrivateJson

# How seldom its use is written down: a page that refreshes itself must not write each time.
NOTE_SECONDS = 600.0
# More than this nobody has open; the one that was used longest ago gives way.
MOST = 1000


class Sessions:
    """The open sessions of one dashboard; they outlive its restart."""

    def __init__(self, path: Path, seconds: float, now: Callable[[], float] = time.time) -> None:
        self._file = PrivateJson(path, {})
        self._seconds = seconds
        self._now = now

    def open(self, user: User) -> str:
        """Begin a session; returns the secret for its cookie."""
        secret = secrets.token_urlsafe(32)
        with self._file.changed() as known:
            for key in self._too_old(known):
                del known[key]
            known[_hash(secret)] = {"user": user.name, "stamp": user.stamp, "at": self._now()}
        return secret

    def user_name(self, secret: str, stamp_of: Callable[[str], str | None]) -> str | None:
        """Tell whose session this is; None when it has ended, or its user is not what it was.

        `stamp_of` gives a user's present stamp.
        """
        key = _hash(secret)
        kept = self._file.read().get(key)
        if kept is None or self._now() - kept["at"] > self._seconds:
            return None
        if stamp_of(kept["user"]) != kept["stamp"]:
            return None
        if self._now() - kept["at"] > NOTE_SECONDS:
            self._note_use(key)
        return str(kept["user"])

    def end(self, secret: str) -> None:
        """End a session; one that has ended already stays so."""
        with self._file.changed() as known:
            known.pop(_hash(secret), None)

    def _note_use(self, key: str) -> None:
        try:
            with self._file.changed() as known:
                # It may have ended meanwhile: then it must not begin again.
                if key in known:
                    known[key]["at"] = self._now()
        except OSError:
            # A full disk signs nobody out before the time.
            return

    def _too_old(self, known: dict[str, Any]) -> list[str]:
        by_use = sorted(known, key=lambda key: float(known[key]["at"]), reverse=True)
        since = self._now() - self._seconds
        return by_use[MOST - 1 :] + [key for key in by_use[: MOST - 1] if known[key]["at"] < since]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
