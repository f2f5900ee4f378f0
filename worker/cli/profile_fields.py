"""Check the fields of a profile, as a person wrote them, before anything is stored.

Raises UsageError with one line that names the field. An endpoint is never repeated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from worker.browser.providers.endpoint import label, normalise
from worker.browser.providers.preset import IF_RUNNING, IfRunning
from worker.browser.providers.preset_file import load_preset, preset_names
from worker.browser.providers.spec import CDP, LOCAL
from worker.cli.face_fields import FACE_FIELDS, chosen_face, completed, face_fields_of
from worker.database.client import Row
from worker.errors import UsageError
from worker.installation import command_line
from worker.profiles import folders
from worker.profiles.folders import TakenFolders
from worker.profiles.store import POLICIES, NewProfile
from worker.proxies.proxy import DIRECT

FIELDS = (
    *("id", "account", "provider", "folder", "vendor_id", "endpoint", "proxy", "region"),
    *("max_active_runs", "release_policy", "allow", "options", *FACE_FIELDS),
)
MOST_RUNS = 1000
_NAME = re.compile(r"\w[\w.:@+-]{0,63}")
_WIDTHS = {"folder": 1024, "vendor_id": 255, "endpoint": 1024, "region": 64, "user_agent": 255}


@dataclass(slots=True)
class Known:
    """What exists already: no two profiles may have the same name or the same browser."""

    proxies: frozenset[str]
    folders: Path
    # Where each proxy is.
    regions: Mapping[str, str | None] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    places: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)
    # Of the profiles of this host.
    taken: TakenFolders = field(default_factory=TakenFolders, repr=False)

    def note(self, profile: Row) -> None:
        self.ids.add(profile["id"])
        if (place := _place(profile["provider"], profile)) is not None:
            self.places[place] = profile["id"]


def profile_of(fields: Mapping[str, Any], known: Known) -> NewProfile:
    """Make a new profile from its fields and add it to `known`; raises UsageError."""
    if (name := str(fields.get("id"))) in known.ids:
        raise UsageError(
            f"there is a profile {name} already; see: {command_line('profiles', 'show', name)}"
        )
    new = placed(checked(fields, known), known)
    new = completed(new, known.regions)
    known.note(asdict(new))
    if new.folder is not None:
        known.taken.note(new.folder, new.id)
    return new


def checked(fields: Mapping[str, Any], known: Known) -> NewProfile:
    """Make a profile from its fields, even if its name is taken; raises UsageError."""
    if unknown := sorted(set(fields) - set(FIELDS)):
        raise UsageError(f"unknown field {unknown[0]!r}; known: {', '.join(FIELDS)}")
    name = _name(fields.get("id"), "a profile's id")
    provider = _text(fields, "provider") or LOCAL
    place = _whereabouts(name, provider, fields, known)
    if other := known.places.get(_place(provider, place) or ("", "")):
        raise UsageError(
            f"profile {other} already uses that browser; a browser belongs to one profile"
        )
    return NewProfile(
        id=name,
        account_id=_name(fields["account"], "an account") if fields.get("account") else None,
        provider=provider,
        folder=Path(place["folder"]) if place["folder"] else None,
        vendor_id=place["vendor_id"],
        endpoint=place["endpoint"],
        options=_options(fields.get("options"), provider),
        proxy=_proxy(_text(fields, "proxy"), known),
        region=_text(fields, "region"),
        max_active_runs=_runs(fields.get("max_active_runs"), provider),
        release_policy=_policy(_text(fields, "release_policy")),
        allowed_actions=_tasks(fields.get("allow")),
        face=chosen_face({name: _text(fields, name) for name in FACE_FIELDS}, provider),
    )


def placed(new: NewProfile, known: Known) -> NewProfile:
    """Give a local profile of this host its folder, resolved; raises UsageError if it is taken."""
    if new.folder is None:
        return new
    folder = folders.resolved(new.folder)
    if len(str(folder)) > _WIDTHS["folder"]:
        raise UsageError(f"folder {new.folder} has too long a name")
    if problem := known.taken.problem_of(folder):
        raise UsageError(problem)
    folders.require_fit(folder, known.folders)
    return replace(new, folder=folder)


def fields_of(profile: Row) -> dict[str, Any]:
    """Turn a profile's row back into the fields that a person would write."""
    columns = {"account": "account_id", "allow": "allowed_actions"}
    fields = {name: profile[columns.get(name, name)] for name in FIELDS if name not in FACE_FIELDS}
    for name in ("allow", "options"):
        fields[name] = json.loads(fields[name]) if fields[name] else None
    return fields | face_fields_of(profile)


def holds_credentials(endpoint: str) -> bool:
    """Whether an endpoint has a login or parameters, which may hold tokens."""
    return bool(re.search(r"[@?#]", endpoint))


def endpoint_label(endpoint: str | None) -> str | None:
    """Name an endpoint by its scheme, host and port only: the rest may be a secret."""
    return label(endpoint) if endpoint else None


def _whereabouts(
    name: str, provider: str, fields: Mapping[str, Any], known: Known
) -> dict[str, str | None]:
    """Collect what the provider needs to find the profile's browser, and refuse the rest."""
    found = {key: _text(fields, key) for key in ("folder", "vendor_id", "endpoint")}
    if found["endpoint"] and normalise(found["endpoint"]) is None:
        raise UsageError("the endpoint is not an address; write http://127.0.0.1:9222 or ws://…")
    if provider == LOCAL:
        _refuse(found, "vendor_id", "endpoint", provider=provider)
        found["folder"] = str(Path(found["folder"] or known.folders / name).absolute())
        return found
    _refuse(found, "folder", provider=provider)
    if provider == CDP:
        _refuse(found, "vendor_id", provider=provider)
        if not found["endpoint"]:
            raise UsageError("a cdp profile needs an endpoint, such as http://127.0.0.1:9222")
        return found
    if provider not in preset_names():
        known_ones = ", ".join([LOCAL, CDP, *preset_names()])
        raise UsageError(f"there is no provider {provider!r}; choose from {known_ones}")
    if not found["vendor_id"]:
        raise UsageError(f"a {provider} profile needs a vendor_id: what {provider} calls it")
    return found


def _refuse(found: Mapping[str, str | None], *names: str, provider: str) -> None:
    for name in names:
        if found[name]:
            raise UsageError(f"a {provider} profile has no {name}")


def _place(provider: str, fields: Mapping[str, Any]) -> tuple[str, str] | None:
    """Name a browser that is no folder of a host; those are compared by where they are."""
    where = fields["vendor_id"] or fields["endpoint"]
    return (provider, where) if where else None


def _name(value: Any, what: str) -> str:
    if not isinstance(value, (str, int)) or not _NAME.fullmatch(str(value)):
        raise UsageError(
            f"{what} may hold only letters, digits, - . _ : @ + and at most 64 of them, "
            f"not {value!r:.40}"
        )
    return str(value)


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise UsageError(f"{name} must be text")
    text = str(value).strip()
    if len(text) > _WIDTHS.get(name, 64) or not text.isprintable():
        raise UsageError(f"{name} is too long, or has characters that cannot be printed")
    return text or None


def _proxy(name: str | None, known: Known) -> str | None:
    if name not in (None, DIRECT) and name not in known.proxies:
        raise UsageError(f"there is no proxy named {name!r}; see: launcher.py proxies list")
    return name


def _runs(value: Any, provider: str) -> int:
    text = "1" if value in (None, "") else str(value)
    if not re.fullmatch(r"\d{1,4}", text) or not 1 <= int(text) <= MOST_RUNS:
        raise UsageError(
            f"max_active_runs must be a number from 1 to {MOST_RUNS}, not {text!r:.40}"
        )
    if int(text) == 1:
        return 1
    if provider == LOCAL:
        raise UsageError(
            "only one browser can use a local profile's folder: max_active_runs must be 1"
        )
    if provider != CDP and load_preset(provider).session_path is not None:
        raise UsageError(
            f"only one session of a {provider} profile is kept in mind: max_active_runs must be 1"
        )
    return int(text)


def _policy(name: str | None) -> str:
    if name is not None and name not in POLICIES:
        raise UsageError(f"release_policy must be one of {', '.join(POLICIES)}, not {name!r}")
    return name or POLICIES[0]


def _tasks(value: Any) -> tuple[str, ...] | None:
    names = value.replace(",", " ").split() if isinstance(value, str) else value or []
    if not isinstance(names, (list, tuple)) or not all(
        isinstance(name, str) and 0 < len(name) <= 64 for name in names
    ):
        raise UsageError("allow must be a list of task names")
    return tuple(dict.fromkeys(names)) or None


def _options(value: Any, provider: str) -> dict[str, Any] | None:
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError:
            raise UsageError('options is not JSON; write {"folder_id": "…"}') from None
    if value in (None, "") or value == {}:
        return None
    if not isinstance(value, dict) or not all(
        isinstance(one, (str, int)) for one in value.values()
    ):
        raise UsageError("options must be an object whose values are text or numbers")
    options = {name: str(one) for name, one in value.items()}
    wanted = options.get(IF_RUNNING)
    if wanted is not None and (provider in (LOCAL, CDP) or wanted not in list(IfRunning)):
        raise UsageError(
            f"the option {IF_RUNNING} is for vendors' profiles, and one of {', '.join(IfRunning)}"
        )
    return options
