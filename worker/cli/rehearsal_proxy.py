"""Which proxy `try` and `reproduce` use: the one that is named, or the one a run would choose.

Where proxies are configured, a job's page goes through one here too, unless `--direct` is given.
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
        help="Use this proxy.  [default: for a job, the one a run would use]",
    )
    direct = click.option("--direct", is_flag=True, help="Use no proxy.")
    return named(direct(command))


def find_proxy(job: Row | None, name: str | None, direct: bool) -> Proxy | None:
    """Find the proxy to try a task with; raises UsageError.

    Without a job and without a name the database is not asked, and no proxy is used.
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
        raise UsageError(f"{found.reason}; name one with --proxy NAME, or use none with --direct")
    return found.proxy
