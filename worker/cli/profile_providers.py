"""`launcher.py profiles providers` and `ask`: whose browsers there are, and how one stands now."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from typing import Any

import click

from worker.browser.options import BrowserOptions
from worker.browser.providers.endpoint import label
from worker.browser.providers.preset import NEVER, Preset
from worker.browser.providers.preset_file import load_preset, preset_names
from worker.browser.providers.registry import Providers
from worker.browser.providers.vendor import VendorProvider
from worker.cli import profile_views as views
from worker.cli.connection import open_database, state_dir
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.database.client import Row
from worker.errors import UsageError
from worker.profiles import store
from worker.profiles.specs import spec_to_stop

HEADER = ("PROVIDER", "TITLE", "IF IT RUNS", "OPEN ELSEWHERE", "DOWNLOADS", "CHECKED AGAINST")


@click.command("providers")
@click.argument("name", required=False)
@json_flag
def providers(name: str | None, as_json: bool) -> None:
    """Show the vendors whose browsers can be used, ours and the project's own; or all about one."""
    found = [load_preset(each) for each in ([name] if name else preset_names())]
    if as_json:
        tell_json([_as_json(preset) for preset in found])
    elif name:
        tell_all(list(_lines(found[0])))
    else:
        tell_all(views.table([HEADER, *map(_cells, found)]))
        tell("* partly known from other people's clients only: launcher.py profiles providers NAME")


@click.command("ask")
@click.argument("profile_id", metavar="ID")
def ask(profile_id: str) -> None:
    """Ask a profile's vendor whether it answers, and whether the profile runs now."""
    with closing(open_database()) as db:
        profile = store.get(db, profile_id)
    provider = vendor_of(profile)
    if provider is None:
        raise UsageError(
            f"profile {profile_id} is {profile['provider']}: there is no vendor to ask"
        )
    tell(provider.greet(spec_to_stop(profile)))


def vendor_of(profile: Row) -> VendorProvider | None:
    """Make the provider of a vendor's profile; None for any other profile."""
    options = BrowserOptions(tmp_dir=state_dir() / "tmp", state_dir=state_dir())
    provider = Providers(options).get(profile["provider"])
    return provider if isinstance(provider, VendorProvider) else None


def _cells(preset: Preset) -> tuple[str, ...]:
    checked = preset.checked
    is_known = preset.locked is not NEVER or bool(preset.status and preset.status.locked)
    return (
        preset.name,
        preset.title,
        "each start is another" if preset.session_path else preset.if_running.value,
        "waits" if is_known else views.NONE,
        "waits" if preset.preparing is not NEVER else views.NONE,
        (checked.against or "nothing") + (" *" if checked.third_party else ""),
    )


def _lines(preset: Preset) -> Iterator[str]:
    yield f"{preset.name}: {preset.title}"
    yield f"  described  {preset.file}"
    yield f"  checked    against {preset.checked.against or 'nothing'}"
    for each in preset.checked.third_party:
        yield f"  3p only    {each}"
    address = os.environ.get(preset.url_variable)
    by = f"{preset.url_variable}{'' if address else ' is not set'}"
    yield f"  address    {label(address or preset.base_url)} ({by})"
    for variable in preset.variables.values():
        yield f"  variable   {variable} is {'set' if os.environ.get(variable) else 'not set'}"
    yield f"  if it runs {preset.if_running} (option if_running)"
    yield f"  asked      {'whether it runs' if preset.status else 'nothing but starts and stops'}"
    yield f"  start      {preset.start_seconds:g} s at the most"
    if preset.min_interval_seconds or preset.one_at_a_time:
        alone = "one at a time, " if preset.one_at_a_time else ""
        yield f"  requests   {alone}{preset.min_interval_seconds:g} s apart, on this machine"
    if preset.start.when:
        yield f"  options    {', '.join(preset.start.when)}"


def _as_json(preset: Preset) -> dict[str, Any]:
    return {
        "name": preset.name,
        "title": preset.title,
        "file": str(preset.file),
        "checked": asdict(preset.checked),
        "address": label(os.environ.get(preset.url_variable) or preset.base_url),
        "variables": {
            name: bool(os.environ.get(name))
            for name in (preset.url_variable, *preset.variables.values())
        },
        "if_running": preset.if_running.value,
        "has_status": preset.status is not None,
        "has_sessions": preset.session_path is not None,
        "start_seconds": preset.start_seconds,
        "min_interval_seconds": preset.min_interval_seconds,
        "one_at_a_time": preset.one_at_a_time,
    }
