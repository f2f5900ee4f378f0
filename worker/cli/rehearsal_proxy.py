"""Through which proxy a task is tried by hand: one that is named, or one as the pool would take.

Where there are proxies a job's page goes out through one here, too, unless `--direct` is given.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import click

from worker.cli.connection import open_database
from worker.database.client import Row
from worker.errors import UsageError
from worker.proxies import choice, store
from worker.proxies.proxy import Proxy


def proxy_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--proxy` and `--direct` to a command."""
    named = click.option(
        "--proxy",
        "proxy_name",
        metavar="NAME",
        help="Go through this proxy.  [default: for a job, as the pool would]",
    )
    direct = click.option("--direct", is_flag=True, help="Go through none.")
    return named(direct(command))


def find_proxy(job: Row | None, name: str | None, direct: bool) -> Proxy | None:
    """Find the proxy for a task that is tried, for a job or for none; raises UsageError.

    Without a job and a name nothing is asked of the database: then the task goes out directly.
    """
    if name is not None and direct:
        raise UsageError("--proxy and --direct contradict each other; give one of them")
    if direct or (job is None and name is None):
        return None
    with closing(open_database()) as db:
        if name is None and job is not None and job["profile"] is not None:
            profile = db.fetch_one("get_profile", id=job["profile"])
            name = profile["proxy"] if profile is not None else None
        if name is not None:
            return store.named(db, (name,))[0]
        assert job is not None
        found = choice.look(db, account_id=job["account"], site=job["site"] or "")
    if found.proxy is None and found.reason:
        raise UsageError(f"{found.reason}; name one with --proxy NAME, or go out without: --direct")
    return found.proxy
