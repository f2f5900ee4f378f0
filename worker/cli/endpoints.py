"""Browsers elsewhere on the command line: where they are, and what sessions are left there."""

from __future__ import annotations

import os
from typing import Any

import click
from click.core import ParameterSource

from worker.browser.browser_choice import BrowserChoice
from worker.browser.elsewhere import config, sessions
from worker.browser.elsewhere.endpoints import is_secret
from worker.cli.output import tell_error
from worker.errors import NightshiftError, UsageError
from worker.settings import RunSettings
from worker.system.fork import call_in_child


def take_endpoints(values: dict[str, Any]) -> None:
    """Replace the addresses among a command's values by what they come to, as `elsewhere`.

    Raises UsageError for a secret on the command line, and SettingsError for what is wrong.
    """
    given = values.pop("browser_endpoint")
    context = click.get_current_context(silent=True)
    source = context and context.get_parameter_source("browser_endpoint")
    if source is ParameterSource.COMMANDLINE and any(map(is_secret, given)):
        raise UsageError(
            "other users of this machine can read --browser-endpoint on the command line, and it "
            "holds a login or token; write the address into .env as NIGHTSHIFT_BROWSER_ENDPOINT, "
            "or give --browser-endpoint env:NAME or file:PATH"
        )
    first, workers = values.get("offset", 0), values.get("workers", 1)
    values["elsewhere"] = config.take(
        given,
        os.environ,
        range(first, first + workers),
        has_default_context=values.get("endpoint_context") == "default",
    )


def close_left_sessions(settings: RunSettings) -> None:
    """End the sessions that killed workers have left, where a service needs to be told."""
    if settings.elsewhere is None or not settings.elsewhere.may_need_closing:
        return
    try:
        call_in_child(_close, settings)
    except NightshiftError as error:
        tell_error(f"sessions of browsers elsewhere may be open still: {error}")


def _close(settings: RunSettings) -> int:
    elsewhere = BrowserChoice.of_run(settings).elsewhere
    assert elsewhere is not None
    return sessions.Notes(elsewhere, settings.state_dir).close_left()
