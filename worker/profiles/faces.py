"""The face of a profile: chosen once, by the region of its proxy, and kept with it from then on.

What a person has not chosen is chosen when the profile is added, or at its first use. Only the
version that it shows moves, with the browser's own, and never back.
"""

from __future__ import annotations

import functools
import json
import logging
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from worker.browser.browser_version import BrowserVersion
from worker.browser.face import SYSTEMS, Face
from worker.browser.providers.spec import LOCAL, ProfileSpec
from worker.database.client import Database, Row
from worker.errors import UsageError
from worker.profiles.windows import find_zone

# Everything that is kept of a face, in the order in which it is shown.
FIELDS = ("timezone", "locale", "system", "viewport")
DEFAULT_SYSTEM = "linux"
# What Playwright uses where nothing is said, and so what tasks are written for.
DEFAULT_VIEWPORT = "1280x720"
SMALLEST, LARGEST = 200, 7680

_REGIONS = Path(__file__).with_name("regions.toml")
_LOCALES = Path(__file__).with_name("locales.toml")
_LOCALE = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|\d{3}))?", re.IGNORECASE)
_VIEWPORT = re.compile(r"(\d{1,5}) *[xX×] *(\d{1,5})")
_CHROME = re.compile(
    r"Mozilla/5\.0 \(([^()]{1,80})\) AppleWebKit/[\d.]+ \(KHTML, like Gecko\) "
    r"Chrome/[\d.]+ Safari/[\d.]+"
)

logger = logging.getLogger("nightshift.profiles")


def complete(chosen: Mapping[str, str], region: str | None) -> dict[str, str]:
    """Add to what was chosen what is missing, by a region."""
    by_region = _table()["regions"].get(_known(region), _table()["neutral"])
    defaults = {**by_region, "system": DEFAULT_SYSTEM, "viewport": DEFAULT_VIEWPORT}
    return {name: chosen.get(name) or defaults[name] for name in FIELDS}


def is_known(region: str | None) -> bool:
    """Whether the table says what people of a region see and read."""
    return _known(region) is not None


def put_on(
    db: Database, profile: Row, spec: ProfileSpec, version: BrowserVersion | None
) -> ProfileSpec:
    """Give a local profile's browser its face; what is new about it is kept first.

    `version` is that of the browser that is about to be started.
    """
    if spec.provider != LOCAL:
        return spec
    own = version.major if version is not None else 0
    shown = max(profile["shown_version"] or 0, own)
    if not shown:
        logger.warning("%s: the browser does not tell its version; it shows its own face", spec)
        return spec
    kept = chosen_of(profile)
    region = spec.proxy.region if spec.proxy is not None else None
    chosen = complete(kept, region or spec.region)
    if chosen != kept or shown != profile["shown_version"]:
        db.execute("keep_face", id=profile["id"], face=json.dumps(chosen), version=shown)
    if own < shown:
        logger.info("%s: it goes on as version %s; this browser is %s", spec, shown, own)
    return replace(spec, face=face_of(chosen, shown))


def face_of(chosen: Mapping[str, str], version: int) -> Face:
    """Make a face of what is kept of it."""
    width, height = chosen["viewport"].split("x")
    return Face(
        timezone=chosen["timezone"],
        locale=chosen["locale"],
        system=chosen["system"],
        viewport=(int(width), int(height)),
        version=version,
    )


def chosen_of(profile: Row) -> dict[str, str]:
    """Read what is kept of a profile's face; empty when nothing was chosen yet."""
    return dict(json.loads(profile["face"])) if profile["face"] else {}


def parse(name: str, text: str) -> str:
    """Read one field as a person wrote it; raises UsageError with what to write instead."""
    return _PARSERS[name](text.strip())


def _timezone(text: str) -> str:
    return find_zone(text).key


def _locale(text: str) -> str:
    found = _LOCALE.fullmatch(text)
    if found is None:
        raise UsageError(f"locale {text!r:.40} is not understood; write one as de-DE")
    language, script, region = found.groups()
    parts = [language.lower(), (script or "").title(), (region or "").upper()]
    known = _locales()
    if parts[0] not in known["languages"]:
        raise UsageError(f"locale {text!r}: there is no language {parts[0]!r}; write one as de-DE")
    if parts[2] and parts[2] not in known["countries"] | known["areas"]:
        raise UsageError(f"locale {text!r}: there is no country {parts[2]!r}; write one as de-DE")
    return "-".join(part for part in parts if part)


def _system(text: str) -> str:
    if text.lower() in SYSTEMS:
        return text.lower()
    found = _CHROME.fullmatch(text)
    systems = {written: name for name, written in SYSTEMS.items()}
    if found is None or found[1] not in systems:
        raise UsageError(
            f"user agent {text!r:.60} is not one that this browser can show; write "
            f"{', '.join(SYSTEMS)}, or the whole user agent of a Chrome on one of them"
        )
    return systems[found[1]]


def _viewport(text: str) -> str:
    found = _VIEWPORT.fullmatch(text)
    if found is None:
        raise UsageError(f"viewport {text!r:.40} is not understood; write one as 1280x720")
    size = [int(number) for number in found.groups()]
    if not all(SMALLEST <= number <= LARGEST for number in size):
        raise UsageError(
            f"viewport {text!r:.40} is out of range; each side is {SMALLEST} to {LARGEST} pixels"
        )
    return f"{size[0]}x{size[1]}"


_PARSERS = {"timezone": _timezone, "locale": _locale, "system": _system, "viewport": _viewport}


def _known(region: str | None) -> str | None:
    name = (region or "").strip().lower().replace("_", "-")
    short = name.partition("-")[0]
    return next((each for each in (name, short) if each in _table()["regions"]), None)


@functools.cache
def _table() -> dict[str, Any]:
    return tomllib.loads(_REGIONS.read_text(encoding="utf-8"))


@functools.cache
def _locales() -> dict[str, frozenset[str]]:
    known = tomllib.loads(_LOCALES.read_text(encoding="utf-8"))
    return {name: frozenset(codes.split()) for name, codes in known.items()}
