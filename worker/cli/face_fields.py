"""What sites see of a profile, as a person chooses it and as it is shown to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import click

from worker.browser.face import Face, languages_of, screen_of
from worker.browser.providers.spec import LOCAL
from worker.database.client import Row
from worker.errors import UsageError
from worker.installation import command_line
from worker.profiles import faces
from worker.profiles.store import NewProfile

# The fields as a person names them, and as they are kept.
FACE_FIELDS = {
    "timezone": "timezone",
    "locale": "locale",
    "user_agent": "system",
    "viewport": "viewport",
}
_NOT_CHOSEN = "(chosen at its first use, by its proxy's region)"


def face_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of a face."""
    by_region = "  [default: by its proxy's region]"
    for flag, metavar, text in (
        ("--viewport", "WxH", f"Size of its pages.  [default: {faces.DEFAULT_VIEWPORT}]"),
        ("--user-agent", "SYSTEM", "linux, windows, macos, or a Chrome's.  [default: linux]"),
        ("--locale", "LOCALE", f"What its user reads, such as de-DE.{by_region}"),
        ("--timezone", "ZONE", f"Where its user lives, such as Europe/Berlin.{by_region}"),
    ):
        command = click.option(flag, metavar=metavar, help=text)(command)
    return command


def chosen_face(given: Mapping[str, str | None], provider: str) -> dict[str, str]:
    """Check the fields of a face that are given; raises UsageError."""
    named = {name: text for name, text in given.items() if text is not None}
    if named and provider != LOCAL:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in named)
        raise UsageError(
            f"{flags}: what sites see of a {provider} profile is up to its own browser; "
            f"set it there"
        )
    return {FACE_FIELDS[name]: faces.parse(FACE_FIELDS[name], text) for name, text in named.items()}


def face_fields_of(profile: Row) -> dict[str, Any]:
    """Turn what is kept of a face back into the fields that a person would write."""
    chosen = faces.chosen_of(profile)
    return {name: chosen.get(kept) for name, kept in FACE_FIELDS.items()}


def completed(new: NewProfile, regions: Mapping[str, str | None]) -> NewProfile:
    """Choose what was not chosen of a new profile's face."""
    if new.provider != LOCAL:
        return new
    return replace(new, face=faces.complete(new.face, _region(new, regions)))


def face_lines(profiles: list[NewProfile]) -> list[str]:
    """Say what sites will see of new profiles, and how many are nowhere in particular."""
    nowhere = faces.complete({}, None)["timezone"]
    lost = [profile for profile in profiles if profile.face.get("timezone") == nowhere]
    if len(profiles) == 1 and profiles[0].face:
        why = "no known region says where it is; choose" if lost else "change that"
        return [f"sites see it in {_words(profiles[0].face)}; {why}: {_how(profiles[0].id)}"]
    if not lost:
        return []
    said = f"sites see {len(lost):,} of them in {nowhere}: no known region says where they are"
    return [f"{said}; choose: {_how('ID')}"]


def strange_face(new: NewProfile, regions: Mapping[str, str | None]) -> list[str]:
    """Say when the proxy of a changed profile is elsewhere than its face says."""
    region = _region(new, regions)
    zone = new.face.get("timezone")
    there = faces.complete({}, region)["timezone"]
    if zone is None or not faces.is_known(region) or zone == there:
        return []
    return [
        f"sites see it in {zone} as before, but its proxy is in {region} ({there}); to change "
        f"that: {_how(new.id)}"
    ]


def face_as_json(profile: Row) -> dict[str, Any] | None:
    """Everything that sites see of a local profile, as far as it is chosen."""
    chosen = faces.chosen_of(profile)
    if profile["provider"] != LOCAL or not chosen:
        return None
    found: dict[str, Any] = {**chosen, "version": profile["shown_version"]}
    if "locale" in chosen:
        found["languages"] = languages_of(chosen["locale"])
    if (face := _face(profile)) is not None:
        found |= {"user_agent": face.user_agent, "screen": _pixels(face.screen)}
    return found


def shown_face(profile: Row) -> list[str]:
    """Write what sites see of a profile, a line each."""
    if profile["provider"] != LOCAL:
        return [f"  face      its browser's own ({profile['provider']})"]
    chosen = faces.chosen_of(profile)
    if not chosen:
        return [f"  face      {_NOT_CHOSEN}"]
    locale, size = chosen.get("locale"), chosen.get("viewport")
    languages = f" ({','.join(languages_of(locale))})" if locale else ""
    width, _, height = (size or "").partition("x")
    screen = f" on a screen of {_pixels(screen_of((int(width), int(height))))}" if size else ""
    system = chosen.get("system")
    own = f"{system}, with the browser's version" if system else _NOT_CHOSEN
    face = _face(profile)
    return [
        f"  timezone  {chosen.get('timezone') or _NOT_CHOSEN}",
        f"  locale    {locale or _NOT_CHOSEN}{languages}",
        f"  agent     {own if face is None else face.user_agent}",
        f"  viewport  {size or _NOT_CHOSEN}{screen}",
    ]


def _face(profile: Row) -> Face | None:
    chosen, version = faces.chosen_of(profile), profile["shown_version"]
    is_whole = version is not None and set(faces.FIELDS) <= chosen.keys()
    return faces.face_of(chosen, version) if is_whole else None


def _region(new: NewProfile, regions: Mapping[str, str | None]) -> str | None:
    return (regions.get(new.proxy) if new.proxy else None) or new.region


def _how(name: str) -> str:
    return f"{command_line('profiles', 'set', name)} --timezone ZONE --locale LOCALE"


def _words(chosen: Mapping[str, str]) -> str:
    languages = ",".join(languages_of(chosen["locale"]))
    return f"{chosen['timezone']}, {languages}, {chosen['system']}, {chosen['viewport']}"


def _pixels(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"
