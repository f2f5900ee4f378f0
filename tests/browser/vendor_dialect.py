"""What a loopback server must know of one vendor's API: routes, answers, refusals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.browser.debug_browser import DebugBrowser


@dataclass
class Reply:
    """An answer of a vendor's API."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class State:
    """How one profile stands at the vendor's."""

    profile: str
    name: str = "stopped"
    browser: DebugBrowser | None = None
    session: str = ""
    metadata: Any = None

    @property
    def runs(self) -> bool:
        return self.name == "running"


# What a vendor tells of the profile that is asked about, or of all there are.
Told = Callable[[State, list[State]], Any]


@dataclass(frozen=True)
class Dialect:
    """The shapes of one vendor's API, written down apart from the presets they test."""

    routes: dict[tuple[str, str], str]
    started: Callable[[DebugBrowser], Any]
    not_running: Reply
    throttled: Reply
    stopped: Reply
    # None: a start of what runs answers like any start.
    already_running: Reply | None = None
    # What it says of a profile that is open elsewhere, and while it downloads, where that is known.
    locked: Reply | None = None
    preparing: Reply | None = None
    # A start that names no endpoint yet.
    unready: Any = None
    id_path: str | None = None
    status: Told | None = None
    # Whether browsers are stopped by a name of the vendor's own.
    has_sessions: bool = False
    # The header that must hold the key, if it must.
    key_header: str | None = None

    def read(self, method: str, path: str, body: Any) -> tuple[str, str]:
        """Give the verb of a request and the profile, or the session, that it is about."""
        for (route_method, pattern), verb in self.routes.items():
            if method != route_method:
                continue
            if path == pattern:
                return verb, self._named_in(body)
            before, star, after = pattern.partition("*")
            if star and path.startswith(before) and path.endswith(after) and path != before:
                return verb, path[len(before) : len(path) - len(after)]
        return "unknown", ""

    def _named_in(self, body: Any) -> str:
        found = body
        for name in (self.id_path or "").split("."):
            found = found.get(name) if isinstance(found, dict) else None
        return str(found[0] if isinstance(found, list) else found or "")


def failed(message: str, code: int = -1) -> Reply:
    """Answer as vendors do that put their errors into HTTP 200."""
    return Reply(200, {"code": code, "msg": message, "data": {}})
