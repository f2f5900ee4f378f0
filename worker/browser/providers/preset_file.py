"""Read presets: those that come with Nightshift, and a project's own in `providers/NAME.toml`.

A project's own takes the place of ours of that name. Whatever is wrong in a file is one line that
names the file and the field.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from worker.browser.providers.answer import Condition, Mark
from worker.browser.providers.preset import (
    NEVER,
    START_SECONDS,
    Checked,
    FindCall,
    Preset,
    Request,
    SignIn,
    StatusCall,
    Variant,
)
from worker.browser.providers.spec import CDP, LOCAL
from worker.browser.providers.toml_table import TomlTable
from worker.errors import SettingsError
from worker.project import providers_dir

PRESETS = Path(__file__).parent / "presets"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# The width of the column that names a profile's provider.
NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
LONGEST_START_SECONDS = 1800.0


def preset_files() -> dict[str, Path]:
    """Find the file of each vendor, by its name: a project's own before ours."""
    files = {path.stem: path for path in PRESETS.glob("*.toml")}
    files |= {path.stem: path for path in providers_dir().glob("*.toml")}
    return dict(sorted(files.items()))


def preset_names() -> list[str]:
    """The vendors there is a preset for."""
    return list(preset_files())


def load_preset(name: str) -> Preset:
    """Read a vendor's preset; raises SettingsError when there is none, or its file is wrong."""
    files = preset_files()
    if name not in files:
        known = ", ".join([LOCAL, CDP, *files])
        raise SettingsError(f"there is no provider {name!r}; choose from {known}")
    return read_preset(files[name])


def read_preset(path: Path) -> Preset:
    """Read one file; raises SettingsError that names it and the field."""
    name = path.stem
    if not NAME.fullmatch(name) or name in (LOCAL, CDP):
        raise SettingsError(
            f"{path}: a provider's name has small letters, digits, - and _, at most 32, and is "
            f"neither {LOCAL} nor {CDP}; rename the file"
        )
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    table = TomlTable(facts, str(path))
    preset = _preset(name, path, table)
    table.close()
    if preset.endpoint_paths and preset.endpoint_template is not None:
        raise table.wrong("endpoint_template", "stands alone: leave out endpoint_paths")
    if not preset.endpoint_paths and preset.endpoint_template is None:
        raise table.wrong("endpoint_paths", "says where in the start's answer the endpoint is")
    if preset.find is not None and preset.session_path is None:
        raise table.wrong("find", "is for vendors with a session_path")
    return preset


def _preset(name: str, path: Path, table: TomlTable) -> Preset:
    return Preset(
        name=name,
        file=path,
        title=table.text("title"),
        base_url=table.text("base_url"),
        url_variable=table.text("url_variable"),
        start=_request(table.table("start")),
        stop=_request(table.table("stop")),
        status=_status(table.optional("status")),
        find=_find(table.optional("find")),
        sign_in=_sign_in(table.optional("sign_in")),
        already_running=_mark(table.optional("already_running")),
        locked=_mark(table.optional("locked")),
        preparing=_mark(table.optional("preparing")),
        not_running=_mark(table.optional("not_running")),
        throttled=_mark(table.optional("throttled")),
        headers=table.texts_by_name("headers"),
        variables=table.texts_by_name("variables"),
        endpoint_paths=table.texts("endpoint_paths"),
        endpoint_template=table.maybe_text("endpoint_template"),
        endpoint_base_url=table.maybe_text("endpoint_base_url") or "",
        endpoint_url_variable=table.maybe_text("endpoint_url_variable") or "",
        endpoint_hosts=table.texts("endpoint_hosts"),
        message_paths=table.texts("message_paths"),
        session_path=table.maybe_text("session_path"),
        start_adopts=table.flag("start_adopts"),
        start_seconds=table.number("start_seconds", START_SECONDS, 1.0, LONGEST_START_SECONDS),
        min_interval_seconds=table.number("min_interval_seconds", 0.0, 0.0, 60.0),
        one_at_a_time=table.flag("one_at_a_time"),
        restart_pause_seconds=table.number("restart_pause_seconds", 0.0, 0.0, 60.0),
        checked=_checked(table.optional("checked")),
    )


def _request(table: TomlTable) -> Request:
    request = Request(
        method=table.choice("method", METHODS),
        path=table.text("path"),
        json=table.json("json"),
        success=_condition(table.optional("success")),
        when=_variants(table.optional("when")),
    )
    if not request.path.startswith("/"):
        raise table.wrong("path", "begins with /")
    return request


def _variants(table: TomlTable | None) -> Mapping[str, Variant]:
    if table is None:
        return {}
    found = {}
    for name in table.names():
        part = table.table(name)
        found[name] = Variant(part.maybe_text("path"), part.json("json") or {})
        part.close()
    return found


def _condition(table: TomlTable | None) -> Condition | None:
    if table is None:
        return None
    condition = Condition(table.text("path"), table.values("values"))
    table.close()
    return condition


def _mark(table: TomlTable | None) -> Mark:
    if table is None:
        return NEVER
    mark = Mark(
        statuses=table.statuses("statuses"),
        text=table.pattern("text"),
        field=_condition(table.optional("field")),
    )
    table.close()
    return mark


def _status(table: TomlTable | None) -> StatusCall | None:
    if table is None:
        return None
    running = _condition(table.table("running"))
    assert running is not None
    status = StatusCall(_request(table), running, _condition(table.optional("locked")))
    table.close()
    return status


def _find(table: TomlTable | None) -> FindCall | None:
    if table is None:
        return None
    find = FindCall(_request(table), table.text("session_path"))
    table.close()
    return find


def _sign_in(table: TomlTable | None) -> SignIn | None:
    if table is None:
        return None
    sign_in = SignIn(
        request=_request(table),
        base_url=table.maybe_text("base_url"),
        url_variable=table.maybe_text("url_variable"),
        keep=table.texts_by_name("keep"),
        is_required=table.flag("is_required", default=True),
        then=_sign_in(table.optional("then")),
    )
    table.close()
    return sign_in


def _checked(table: TomlTable | None) -> Checked:
    if table is None:
        return Checked()
    checked = Checked(table.text("against"), table.texts("third_party"))
    table.close()
    return checked
