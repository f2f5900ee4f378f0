"""`launcher.py profiles cookies`: a profile's cookies out and in, by its own browser."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click

from worker.browser import storage_state
from worker.browser.browser_choice import BrowserChoice
from worker.browser.session import BrowserSession
from worker.cli import storage_file
from worker.cli.connection import open_database, state_dir
from worker.cli.options import DURATION, run_settings
from worker.cli.output import tell
from worker.cli.wording import counted, operator
from worker.errors import UsageError
from worker.execution import profile_browser
from worker.profiles import checkouts, errands, store


@click.command("cookies")
@click.argument("profile_id", metavar="ID")
@click.option("--out", "target", metavar="FILE|-", help="Write the profile's cookies there.")
@click.option("--in", "source", metavar="FILE|-", help="Add the cookies that are there.")
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="With --out: also the local storage of this site, such as https://example.com",
)
@click.option(
    "--keep-session",
    "keep_seconds",
    type=DURATION,
    help="With --in: how long session cookies last.  [default: until the browser closes]",
)
@click.option("--reveal", is_flag=True, help="With --out -: show them on a terminal.")
@run_settings("browser", "headless")
def cookies(
    profile_id: str,
    target: str | None,
    source: str | None,
    origins: tuple[str, ...],
    keep_seconds: float | None,
    reveal: bool,
    browser: str | None,
    headless: bool,
) -> None:
    """Write a profile's cookies to a file, or add those of a file: as Playwright's storage_state.

    Its browser is opened for that, behind its proxy; no site is visited, and no job uses the
    profile meanwhile. Cookies are log-ins: the file is yours alone.
    """
    if (target is None) == (source is None):
        raise UsageError("say --out FILE to write the cookies, or --in FILE to add some")
    if target is not None:
        storage_file.require_place(target, reveal=reveal)
        wanted = [storage_file.origin_of(url) for url in origins]
        with _opened(profile_id, "cookies read", browser, headless) as session:
            state = storage_state.read(session, wanted)
        storage_file.write(target, state)
        tell(f"{counted(len(state['cookies']), 'cookie')} of {profile_id} written", err=True)
        return
    assert source is not None
    state = storage_file.read(source)
    if keep_seconds is not None:
        storage_file.make_lasting(state, keep_seconds)
    with _opened(profile_id, "cookies added", browser, headless) as session:
        storage_state.write(session, state)
    tell(f"{counted(len(state['cookies']), 'cookie')} added to {profile_id}")
    if lost := storage_file.session_cookies(state):
        tell(
            f"{counted(len(lost), 'cookie')} without an end did not outlive the browser: to keep "
            f"them, add --keep-session 30d",
            err=True,
        )


@contextmanager
def _opened(
    profile_id: str, reason: str, browser: str | None, headless: bool
) -> Iterator[BrowserSession]:
    """Hold the profile and open its browser; all is closed and given back afterwards."""
    with (
        closing(open_database()) as db,
        tempfile.TemporaryDirectory(prefix="nightshift-") as folder,
    ):
        profile = store.get(db, profile_id)
        errands.require_here(profile, "done")
        errands.require_free(db, profile_id, "done")
        if (problem := checkouts.way_out_problem(db, profile_id)) is not None:
            raise UsageError(f"{problem.reason}; nothing was done")
        choice = BrowserChoice(browser=browser, headless=headless)
        options = choice.options(Path(folder) / "browser", state_dir=state_dir())
        with (
            errands.errand(db, profile_id, by=operator(), reason=reason) as held,
            profile_browser.opened(db, profile, held, BrowserSession(options), operator()) as it,
        ):
            yield it
