"""Read what a person says about a profile (flags, a prompt, stdin), and what exists already.

An endpoint or option that holds a secret is never accepted on the command line.
"""

from __future__ import annotations

import sys

import click

from worker.cli.connection import state_dir
from worker.cli.profile_fields import Known, holds_credentials
from worker.database.client import Database
from worker.errors import UsageError
from worker.evidence.redaction import is_secret_name
from worker.profiles import store as profiles
from worker.profiles.folders import taken_by
from worker.proxies import store as proxies


def known_profiles(db: Database, *, but: str | None = None) -> Known:
    """Read which profiles and proxies exist, leaving out the profile `but`."""
    known_proxies = proxies.all_proxies(db)
    known = Known(
        proxies=frozenset(row["name"] for row in known_proxies),
        folders=state_dir() / "profiles",
        regions={row["name"]: row["region"] for row in known_proxies},
    )
    others = [row for row in profiles.all_profiles(db) if row["id"] != but]
    for row in others:
        known.note(row)
    known.taken = taken_by(others)
    return known


def options_of(pairs: tuple[str, ...]) -> dict[str, str]:
    """Read KEY=VALUE pairs; raises UsageError for a key that names a secret."""
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise UsageError(f"--option {key}: write KEY=VALUE, as in folder_id=7f3c")
        if is_secret_name(key):
            raise UsageError(
                f"--option {key} is a secret, and everybody on this machine can see the command "
                f"line; put it into a file: launcher.py profiles import FILE.jsonl"
            )
        found[key] = value
    return found


def endpoint_of(given: str | None, provider: str) -> str | None:
    """Return the endpoint, or ask for it: after `-`, or when a cdp profile has none."""
    if given is not None and given != "-":
        if holds_credentials(given):
            raise UsageError(
                "everybody on this machine can see a login or token on the command line; "
                "write --endpoint - to be asked for it, or to read it from stdin"
            )
        return given
    if given is None and provider != "cdp":
        return None
    if sys.stdin.isatty():
        return str(click.prompt("endpoint (not shown)", hide_input=True, err=True))
    endpoint = sys.stdin.readline().strip()
    if not endpoint:
        raise UsageError("no endpoint on stdin; write one such as http://127.0.0.1:9222 there")
    return endpoint
