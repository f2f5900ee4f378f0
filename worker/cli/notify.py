"""`launcher.py notify`: whom a run tells when it goes wrong, and whether a message arrives."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click
from click.core import ParameterSource

from worker.cli.options import json_flag, run_settings
from worker.cli.output import tell, tell_json
from worker.errors import NightshiftError, SettingsError
from worker.notices import messages, sending, targets
from worker.system.fork import call_in_child


@click.command("notify")
@run_settings("notify")
@click.option("--test", "is_trial", is_flag=True, help="Send everybody a test message.")
@json_flag
def notify(notify: tuple[str, ...], is_trial: bool, as_json: bool) -> None:
    """Show whom a run tells when it goes wrong; --test sends a message."""
    urls = notify_targets(notify)
    if not urls:
        raise SettingsError(
            "nobody would be told; write NIGHTSHIFT_NOTIFY=mailto://… (or slack://…, ntfy://…) "
            "into .env"
        )
    if is_trial:
        told = call_in_child(_try, urls)
    else:
        call_in_child(sending.check, urls)
        told = [(targets.name_of(url, number), None) for number, url in enumerate(urls, 1)]
    if as_json:
        tell_json([{"target": name, "trouble": trouble} for name, trouble in told])
    else:
        for name, trouble in told:
            good = "the message was taken" if is_trial else "its URL is understood"
            tell(f"{name}: {good if trouble is None else f'NOT TOLD: {trouble}'}")
    if any(trouble is not None for _, trouble in told):
        raise NightshiftError("not everybody was told; correct NIGHTSHIFT_NOTIFY and try again")


def notify_targets(values: Sequence[str]) -> tuple[str, ...]:
    """Find the URLs behind the values of --notify; warn of a secret on the command line.

    Raises SettingsError when there are some but no Apprise.
    """
    if not values:
        return ()
    sending.require()
    context = click.get_current_context(silent=True)
    source = context and context.get_parameter_source("notify")
    if source is ParameterSource.COMMANDLINE and any(map(targets.is_secret, values)):
        tell(
            "nightshift: other users of this machine can read --notify on the command line; "
            "write the URL into .env as NIGHTSHIFT_NOTIFY, or give --notify env:NAME or file:PATH",
            err=True,
        )
    return targets.resolve(values, os.environ)


def _try(urls: tuple[str, ...]) -> list[tuple[str, str | None]]:
    return list(sending.send(urls, messages.trial()))


COMMANDS = [notify]
