"""One check of `doctor`: does every browser elsewhere that is configured open a page?"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from worker.browser.elsewhere import config
from worker.browser.elsewhere.config import Elsewhere
from worker.browser.elsewhere.rests import Rests
from worker.browser.options import BrowserOptions
from worker.browser.session import BrowserSession
from worker.cli.connection import state_dir
from worker.errors import LaunchFailed, NightshiftError

NONE = "not used: jobs have browsers of this machine (NIGHTSHIFT_BROWSER_ENDPOINT is not set)"


def wanted() -> Elsewhere | None:
    """Read where browsers elsewhere are; raises SettingsError for what is wrong."""
    values = os.environ.get(config.VARIABLE, "").split()
    # The environment of this process stays: more than one check asks.
    is_default = os.environ.get("NIGHTSHIFT_ENDPOINT_CONTEXT") == "default"
    return config.take(values, dict(os.environ), _slots(), has_default_context=is_default)


def check() -> str:
    """Open a page at every endpoint; raises LaunchFailed, naming each that gives none."""
    found = wanted()
    if found is None:
        return NONE
    told, failed = [], []
    for endpoint in found.endpoints:
        only = replace(found, endpoints=(endpoint,), rests=Rests(1))
        try:
            told.append(f"{endpoint} opens a page ({_open(only, endpoint.slot or 0)})")
        except NightshiftError as error:
            failed.append(str(error))
    if failed:
        raise LaunchFailed("; ".join(failed))
    return "; ".join(told)


def _open(elsewhere: Elsewhere, slot: int) -> str:
    state_dir().mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="doctor-", dir=state_dir()))
    session = BrowserSession(BrowserOptions(tmp_dir=folder, elsewhere=elsewhere, slot=slot))
    try:
        session.open()
        session.page_for_job().set_content("<title>Nightshift</title>")
        facts = (session.remote.facts if session.remote is not None else None) or {}
        return f"{facts.get('protocol')}, Chromium {facts.get('browser_version')}"
    finally:
        session.close()


def _slots() -> range:
    first = os.environ.get("NIGHTSHIFT_OFFSET", "0")
    workers = os.environ.get("NIGHTSHIFT_WORKERS", "1")
    numbers = [int(text) if text.isdecimal() else 1 for text in (first, workers)]
    return range(numbers[0], numbers[0] + numbers[1])
