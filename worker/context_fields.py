"""The options of a browser context: which there are, and what each of them may be.

They have Playwright's names. One check serves tasks, a run and payloads, which may say less. Knows
no Playwright: whether a device exists is asked in `tasks/devices.py`.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import zoneinfo
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from worker.secret_references import is_reference

MOST_PIXELS = 20_000
# Of one header; servers refuse more.
MAX_HEADER = 8_000

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_SECRET_HEADER = re.compile(r"auth|cookie|token|key|secret|passw|session|sig", re.IGNORECASE)
_WEB = re.compile(r"https?://[^\s/?#@]+(?:[/?#]\S*)?")
_LOCALE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}")
# No example of it: the redactor would mask that.
NAME_IT = "name the secret instead (docs/tasks.md, Secrets)"
_SIZE = '{"width": 1280, "height": 720}'


class Level(StrEnum):
    """Who says so. A payload may be a stranger's, and a run's settings stand in files and flags."""

    TASK = "task"
    RUN = "run"
    JOB = "job"


def problem_in(options: Any, level: Level) -> str | None:
    """Say what is wrong with a context's options, in one line; secrets are not repeated."""
    if not isinstance(options, Mapping):
        return 'give options by name, as in {"locale": "de-DE"}'
    for name, value in options.items():
        if name not in CHECKS:
            return _unknown(str(name))
        if (expected := CHECKS[name](value)) is not None:
            return f"{name}: expected {expected}{_shown(name, value)}"
        if level is Level.JOB and (why := _not_for_jobs(name, value)):
            return f"{name}: {why}"
        if level is Level.RUN and (why := _written_down(name, value)):
            return f"{name}: {why}"
    return _contradiction(options)


def nearest(name: str, known: Iterable[str]) -> str:
    """Name what was probably meant, or everything that could have been."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"


def _unknown(name: str) -> str:
    why = ELSEWHERE.get(name)
    shown = name if name.isidentifier() and len(name) <= 60 else f"{name!r:.60}"
    return f"unknown option {shown}; {why or nearest(name[:100], CHECKS)}"


def _not_for_jobs(name: str, value: Any) -> str | None:
    """Say why a payload may not ask for this."""
    if name == "permissions" and set(value) - JOB_PERMISSIONS:
        return f"a job may have no permission but {', '.join(sorted(JOB_PERMISSIONS))}"
    if name in JOB_OPTIONS:
        return None
    if name not in SECRET_OPTIONS:
        return "not for a single job; its task or its run may say so"
    return None if _is_by_reference(name, value) else f"a job may only name secrets; {NAME_IT}"


def _is_by_reference(name: str, value: Any) -> bool:
    if name == "storage_state":
        return is_reference(value)
    if not isinstance(value, Mapping):
        return False
    if name == "http_credentials":
        return is_reference(value.get("password"))
    return all(map(is_reference, value.values()))


def _written_down(name: str, value: Any) -> str | None:
    """Say what a run's settings may not hold, because others read them."""
    if not isinstance(value, Mapping) or is_reference(value):
        return None
    if name == "http_credentials" and not is_reference(value.get("password")):
        return f"no password belongs here; {NAME_IT}"
    if name == "storage_state":
        return f'give its file, as in "state.json", or {NAME_IT}'
    is_plain = name == "extra_http_headers" and any(
        _SECRET_HEADER.search(str(each)) and not is_reference(text) for each, text in value.items()
    )
    return f"no secret belongs here; {NAME_IT}" if is_plain else None


def _contradiction(options: Mapping[str, Any]) -> str | None:
    if not options.get("no_viewport"):
        return None
    for name in ("viewport", "screen", "device", "device_scale_factor", "is_mobile"):
        if options.get(name):
            return f"no_viewport and {name} contradict each other; leave one of them out"
    return None


def _shown(name: str, value: Any) -> str:
    if name in SECRET_OPTIONS:
        return ""
    text = repr(value)
    return f", got {text[:60]}{'…' * (len(text) > 60)}"


def _number(low: float, high: float, expected: str) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return None if is_number and math.isfinite(value) and low <= value <= high else expected

    return check


def _one_of(*choices: str) -> Callable[[Any], str | None]:
    return lambda value: (
        None if isinstance(value, str) and value in choices else f"one of {', '.join(choices)}"
    )


def _matching(pattern: re.Pattern[str], expected: str) -> Callable[[Any], str | None]:
    return lambda value: None if isinstance(value, str) and pattern.fullmatch(value) else expected


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "true or false"


def _size(value: Any) -> str | None:
    if not isinstance(value, Mapping) or set(value) != {"width", "height"}:
        return _SIZE
    is_good = all(
        isinstance(side, int) and not isinstance(side, bool) and 1 <= side <= MOST_PIXELS
        for side in value.values()
    )
    return None if is_good else f"{_SIZE}, each side 1 to {MOST_PIXELS:,} pixels"


def _timezone(value: Any) -> str | None:
    try:
        zoneinfo.ZoneInfo(value)
    except (TypeError, ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        near = difflib.get_close_matches(str(value), zoneinfo.available_timezones(), n=1)
        return f"a time zone such as {near[0] if near else 'Europe/Berlin'}"
    return None


def _geolocation(value: Any) -> str | None:
    expected = '{"latitude": 52.5, "longitude": 13.4}, perhaps with "accuracy" in metres'
    if not isinstance(value, Mapping) or not {"latitude", "longitude"} <= set(value) <= set(_EARTH):
        return expected
    return next((expected for name, at in value.items() if _EARTH[name](at) is not None), None)


def _permissions(value: Any) -> str | None:
    is_good = isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)
    return None if is_good else 'a list such as ["geolocation"]'


def _headers(value: Any) -> str | None:
    expected = 'texts by name, as in {"X-Team": "night"}'
    if not isinstance(value, Mapping):
        return expected
    for name, text in value.items():
        if not isinstance(name, str) or not _HEADER.fullmatch(name):
            return f"{expected}; a header cannot be named {str(name)[:60]!r}"
        if not is_reference(text) and not _is_line(text):
            return f"{expected}, in one line, or a secret's name, at {name}"
    return None


def _is_line(text: Any) -> bool:
    return isinstance(text, str) and len(text) <= MAX_HEADER and text.isprintable()


def _user_agent(value: Any) -> str | None:
    is_good = _is_line(value) and value.isascii() and value.strip()
    return None if is_good else "the user agent as it is sent, in one line of plain letters"


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) and value.strip() else "a text"


def _credentials(value: Any) -> str | None:
    expected = 'username and password, perhaps with "origin"'
    if not isinstance(value, Mapping) or not {"username", "password"} <= set(value):
        return expected
    password = value["password"]
    is_good = isinstance(password, str) or is_reference(password)
    is_good = is_good and isinstance(value["username"], str)
    return None if is_good and set(value) <= {"username", "password", "origin"} else expected


def _storage_state(value: Any) -> str | None:
    if is_reference(value) or (isinstance(value, str | os.PathLike) and str(value).strip()):
        return None
    parts = {"cookies", "origins"}
    if isinstance(value, Mapping) and value and set(value) <= parts:
        is_good = all(isinstance(part, list) for part in value.values())
        return None if is_good else "lists of cookies and origins"
    return 'a file such as "state.json", what Playwright writes into one, or the name of a secret'


_EARTH = {
    "latitude": _number(-90, 90, ""),
    "longitude": _number(-180, 180, ""),
    "accuracy": _number(0, 1e7, ""),
}
# What may hold secrets: never repeated, and of a payload only by a secret's name.
SECRET_OPTIONS = frozenset({"extra_http_headers", "http_credentials", "storage_state"})
CHECKS: dict[str, Callable[[Any], str | None]] = {
    "base_url": _matching(_WEB, "http://… or https://…, without a login"),
    "bypass_csp": _flag,
    "color_scheme": _one_of("light", "dark", "no-preference"),
    "contrast": _one_of("more", "no-preference"),
    "device": _text,
    "device_scale_factor": _number(0.1, 10, "a number from 0.1 to 10"),
    "extra_http_headers": _headers,
    "forced_colors": _one_of("active", "none"),
    "geolocation": _geolocation,
    "has_touch": _flag,
    "http_credentials": _credentials,
    "ignore_https_errors": _flag,
    "is_mobile": _flag,
    "java_script_enabled": _flag,
    "locale": _matching(_LOCALE, "a locale such as de-DE"),
    "no_viewport": _flag,
    "offline": _flag,
    "permissions": _permissions,
    "reduced_motion": _one_of("reduce", "no-preference"),
    "screen": _size,
    "service_workers": _one_of("allow", "block"),
    "storage_state": _storage_state,
    "strict_selectors": _flag,
    "timezone_id": _timezone,
    "user_agent": _user_agent,
    "viewport": _size,
}
# What sites see and no more: this may stand in a payload, and a profile's face takes its place.
LOOKS = frozenset(
    {
        "color_scheme", "contrast", "device", "device_scale_factor", "forced_colors", "has_touch",
        "is_mobile", "locale", "no_viewport", "reduced_motion", "screen", "timezone_id",
        "user_agent", "viewport",
    }
)  # fmt: skip
JOB_OPTIONS = LOOKS | {"geolocation", "java_script_enabled", "permissions", "service_workers"}
JOB_PERMISSIONS = frozenset({"geolocation"})
# Options of Playwright that are said elsewhere, or not at all.
ELSEWHERE = {
    "accept_downloads": "a task that downloads says @task(…, downloads=True)",
    "proxy": "which proxy a job uses is not up to its task; see launcher.py proxies",
    "record_har_path": "a run records traces: --trace",
    "record_video_dir": "a run records traces: --trace",
}
