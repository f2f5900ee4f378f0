"""`launcher.py profiles open`: a profile's browser on a person's screen, as a checkout."""

from __future__ import annotations

import os
import signal
from contextlib import closing

import click

from worker.browser.providers.spec import LOCAL
from worker.cli.connection import open_database
from worker.cli.options import DURATION, run_settings
from worker.cli.output import tell
from worker.cli.profile_checkouts import take
from worker.cli.wording import operator
from worker.database.client import Database
from worker.errors import UsageError
from worker.execution import profile_window
from worker.installation import command_line
from worker.profiles import checkouts, hosts, store


@click.command("open")
@click.argument("profile_id", metavar="ID")
@click.option("--for", "seconds", type=DURATION, help="For how long.  [default: 1h]")
@click.option("--reason", default="", help="Why, for others to read.")
@run_settings("browser")
def open_(profile_id: str, seconds: float | None, reason: str, browser: str | None) -> None:
    """Open a local profile on your screen, behind its proxy; no job runs in it meanwhile.

    It is a checkout: when you close the browser, or press Ctrl-C here, the profile is returned.
    """
    with closing(open_database()) as db:
        profile = store.get(db, profile_id)
        if profile["provider"] != LOCAL:
            raise UsageError(
                f"profile {profile_id} is no folder of a host ({profile['provider']}): check it "
                f"out and open it there: {command_line('profiles', 'checkout', profile_id)}"
            )
        if (other := hosts.elsewhere(profile)) is not None:
            raise UsageError(f"{other}: open it there; nothing was checked out")
        if (problem := checkouts.way_out_problem(db, profile_id)) is not None:
            raise UsageError(f"{problem.reason}; nothing was checked out")
        executable = profile_window.require_screen(browser, os.environ)
        fence = take(db, profile_id, seconds, reason)
        _show(db, profile_id, fence, executable)
        state = store.get(db, profile_id)["state"]
    tell(f"returned {profile_id}; it is {state}")


def _show(db: Database, profile_id: str, fence: int, executable: str | None) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        # As Ctrl-C: the profile is returned on the way out.
        signal.signal(number, signal.default_int_handler)
    profile_window.show(
        db,
        store.get(db, profile_id),
        fence,
        executable=executable,
        by=operator(),
        on_open=lambda: tell(f"profile {profile_id} is open; close its browser to return it"),
    )
