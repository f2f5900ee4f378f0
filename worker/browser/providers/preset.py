"""A vendor's HTTP API as data: what to send, and how to read what comes back.

One TOML file in presets/ describes one vendor; docs/providers.md explains the fields. Holds no
secret: credentials are named by the environment variables they come from.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker.errors import SettingsError

PRESETS = Path(__file__).parent / "presets"


@dataclass(frozen=True, slots=True)
class Condition:
    """What an answer must hold: one of `values` at `path`, or anything but nothing."""

    path: str
    values: tuple[str | int | bool, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One request; `{name}` in path, body and headers is filled in when it is sent."""

    method: str
    path: str
    json: Mapping[str, Any] | None = None
    success: Condition | None = None


@dataclass(frozen=True, slots=True)
class SignIn:
    """The request that gives a token, which may go to another address than the rest."""

    request: Request
    base_url: str
    url_variable: str
    token_path: str


@dataclass(frozen=True, slots=True)
class Mark:
    """How a certain trouble is recognised: by the HTTP status, or by a text in the body."""

    statuses: frozenset[int] = frozenset()
    text: re.Pattern[str] | None = None

    def is_on(self, status: int, body: str) -> bool:
        return status in self.statuses or bool(self.text and self.text.search(body))


@dataclass(frozen=True, slots=True)
class Preset:
    """Everything about one vendor."""

    name: str
    title: str
    base_url: str
    url_variable: str
    start: Request
    stop: Request
    already_running: Mark
    not_running: Mark
    throttled: Mark
    status: Request | None = None
    sign_in: SignIn | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    endpoint_paths: tuple[str, ...] = ()
    endpoint_template: str | None = None
    message_paths: tuple[str, ...] = ()
    min_interval_seconds: float = 0.0


def preset_names() -> list[str]:
    """The vendors there is a preset for."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def load_preset(name: str) -> Preset:
    """Read a vendor's preset; raises SettingsError when there is none of that name."""
    if name not in preset_names():
        known = ", ".join(["local", "cdp", *preset_names()])
        raise SettingsError(f"there is no provider {name!r}; choose from {known}")
    facts = tomllib.loads((PRESETS / f"{name}.toml").read_text(encoding="utf-8"))
    return Preset(
        name=name,
        title=facts["title"],
        base_url=facts["base_url"],
        url_variable=facts["url_variable"],
        start=_request(facts["start"]),
        stop=_request(facts["stop"]),
        status=_request(facts["status"]) if "status" in facts else None,
        sign_in=_sign_in(facts["sign_in"]) if "sign_in" in facts else None,
        already_running=_mark(facts["already_running"]),
        not_running=_mark(facts["not_running"]),
        throttled=_mark(facts["throttled"]),
        headers=facts.get("headers", {}),
        variables=facts.get("variables", {}),
        endpoint_paths=tuple(facts.get("endpoint_paths", ())),
        endpoint_template=facts.get("endpoint_template"),
        message_paths=tuple(facts.get("message_paths", ())),
        min_interval_seconds=facts.get("min_interval_seconds", 0.0),
    )


def _request(facts: Mapping[str, Any]) -> Request:
    success = facts.get("success")
    return Request(
        method=facts["method"],
        path=facts["path"],
        json=facts.get("json"),
        success=Condition(success["path"], tuple(success.get("values", ()))) if success else None,
    )


def _sign_in(facts: Mapping[str, Any]) -> SignIn:
    return SignIn(
        _request(facts), facts["base_url"], facts["url_variable"], token_path=facts["token_path"]
    )


def _mark(facts: Mapping[str, Any]) -> Mark:
    text = facts.get("text")
    return Mark(
        frozenset(facts.get("statuses", ())),
        re.compile(text, re.IGNORECASE) if text else None,
    )
