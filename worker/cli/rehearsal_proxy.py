"""Which proxy `try` and `reproduce` use: the one a run would use, or one that is named.

The job of a profile or an account goes out by that one's own door, or not at all. Other tasks may
be tried through any proxy, and directly if a person says `--direct`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import click

from worker.cli.connection import is_there, open_database
from worker.database.client import Database, Row
from worker.errors import DatabaseUnavailable, UsageError
from worker.profiles import doors
from worker.proxies import choice, store
from worker.proxies.choice import Choice
from worker.proxies.proxy import Proxy


def proxy_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--proxy` and `--direct` to a command."""
    named = click.option(
        "--proxy",
        "proxy_name",
        metavar="NAME",
        help="Use this proxy.  [default: the one a run would use]",
    )
    direct = click.option(
        "--direct", is_flag=True, help="Use no proxy; not for jobs of accounts and profiles."
    )
    return named(direct(command))


def find_proxy(job: Row | None, name: str | None, direct: bool) -> Proxy | None:
    """Find the proxy to try a task with; raises UsageError.

    Without a job the database is asked only if there is one.
    """
    if name is not None and direct:
        raise UsageError("--proxy and --direct contradict each other; give one of them")
    is_owned = job is not None and bool(job["profile"] or job["account"])
    if (direct and not is_owned) or (job is None and name is None and not is_there()):
        return None
    try:
        with closing(open_database()) as db:
            if job is not None and is_owned:
                return _own(db, job, name, direct)
            if name is not None:
                return store.named(db, (name,))[0]
            return _usable(choice.look(db, site=(job["site"] or "") if job is not None else None))
    except DatabaseUnavailable as error:
        raise DatabaseUnavailable(
            f"{error}; so nobody knows whether there are proxies: use none with --direct"
        ) from error


def _usable(found: Choice) -> Proxy | None:
    if found.proxy is None and found.reason:
        raise UsageError(f"{found.reason}; name one with --proxy NAME, or use none with --direct")
    return found.proxy


def _own(db: Database, job: Row, name: str | None, direct: bool) -> Proxy | None:
    """Find the door of the profile or account that a job belongs to; no other will do."""
    owner = f"profile {job['profile']}" if job["profile"] else f"account {job['account']}"
    if job["profile"] and db.fetch_one("get_profile", id=job["profile"]) is None:
        raise UsageError(f"job {job['id']} belongs to {owner}, which does not exist")
    door = doors.of_job(db, job["profile"], job["account"], job["site"] or "")
    if door.reason:
        raise UsageError(f"job {job['id']} belongs to {owner}, and {door.reason}")
    own = door.proxy.name if door.proxy is not None else None
    if (name is not None and name != own) or (direct and own is not None):
        flag = "--direct" if direct else f"--proxy {name}"
        how = f"through proxy {own}" if own is not None else "directly"
        raise UsageError(
            f"job {job['id']} belongs to {owner}, which goes out {how}, and never otherwise; "
            f"leave out {flag}"
        )
    return door.proxy
