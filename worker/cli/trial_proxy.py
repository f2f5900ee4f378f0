"""The proxy of `try`, `reproduce` and `enqueue --sitemap`: the one of a run, or one that is named.

A job or payload of a profile or an account goes out by that one's own door, or not at all. Other
tasks may be tried through any proxy, and directly if a person says `--direct`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import click

from worker.cli.connection import is_there, open_database
from worker.cli.output import tell
from worker.database.client import Database, Row
from worker.errors import DatabaseUnavailable, PayloadError, UsageError
from worker.profiles import doors, manifest
from worker.profiles.manifest import Manifest
from worker.profiles.resolution import Unresolvable, check_owner
from worker.proxies import choice, store
from worker.proxies.choice import Choice
from worker.proxies.proxy import DIRECT, Proxy


def proxy_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--proxy` and `--direct` to a command."""
    named = click.option(
        "--proxy",
        "proxy_name",
        metavar="NAME",
        help="Use this proxy.  [default: the one a run would use]",
    )
    direct = click.option(
        "--direct",
        is_flag=True,
        help="Use no proxy; not for jobs and payloads of accounts and profiles.",
    )
    return named(direct(command))


def find_proxy(
    job: Row | None, payload: dict[str, Any], name: str | None, direct: bool
) -> Proxy | None:
    """Find the proxy to try a task with; raises UsageError.

    Without a job or an owner the database is asked only if there is one.
    """
    if name is not None and direct:
        raise UsageError("--proxy and --direct contradict each other; give one of them")
    wanted = _wanted(job, payload)
    if not wanted.has_owner and (direct or (job is None and name is None and not is_there())):
        return None
    try:
        with closing(open_database()) as db:
            if wanted.has_owner:
                return _own(db, f"job {job['id']}" if job else "the payload", wanted, name, direct)
            if name is not None:
                return store.named(db, (name,))[0]
            return _usable(choice.look(db, site=wanted.site if job is not None else None))
    except DatabaseUnavailable as error:
        how = "" if wanted.has_owner else ": use none with --direct"
        raise DatabaseUnavailable(
            f"{error}; so nobody knows whether there are proxies{how}"
        ) from error


def _wanted(job: Row | None, payload: dict[str, Any]) -> Manifest:
    try:
        if job is None:
            return manifest.check(payload)
        wanted = manifest.check(payload, job["profile"], job["account"])
    except PayloadError as error:
        raise UsageError(str(error)) from error
    return replace(wanted, site=job["site"] or "")


def _usable(found: Choice) -> Proxy | None:
    if found.proxy is None and found.reason:
        raise UsageError(f"{found.reason}; name one with --proxy NAME, or use none with --direct")
    return found.proxy


def _own(db: Database, who: str, wanted: Manifest, name: str | None, direct: bool) -> Proxy | None:
    """Find the door of the profile or account that a task is tried for; no other will do."""
    owner = f"profile {wanted.profile}" if wanted.profile else f"account {wanted.account}"
    try:
        check_owner(db, wanted)
    except Unresolvable as error:
        raise UsageError(f"{who} belongs to {owner}, and {error}") from error
    door = doors.of_job(db, wanted.profile, wanted.account, wanted.site)
    if door.reason:
        raise UsageError(f"{who} belongs to {owner}, and {door.reason}")
    own = door.proxy.name if door.proxy is not None else None
    how = f"through proxy {own}" if own is not None else "directly"
    if wanted.proxy is not None and wanted.proxy != (own or DIRECT):
        raise UsageError(f"{who} wants proxy {wanted.proxy}, and {owner} goes out {how}")
    if (name is not None and name != own) or (direct and own is not None):
        flag = "--direct" if direct else f"--proxy {shlex.quote(str(name))}"
        raise UsageError(
            f"{who} belongs to {owner}, which goes out {how}, and never otherwise; leave out {flag}"
        )
    if wanted.profile is not None:
        tell(
            f"{who} belongs to {owner}; here it runs in an ordinary browser, without the cookies "
            f"and log-ins of the profile",
            err=True,
        )
    return door.proxy
