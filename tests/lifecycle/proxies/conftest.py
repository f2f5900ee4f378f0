"""A site, proxies with a login that lead to it, and a task that looks for something there."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.loopback import HttpProxy, Site
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy

USER, WORD = "nightuser", "S3cretWord"
SHOP = "http://shop.test/"
QUICK = ("--retry-delay", "1s", "--tasks")

TASKS = """
from worker import task

@task("look")
def look(page, payload, job):
    page.goto(payload["url"])
    page.wait_for_selector(payload["selector"], timeout=300)
"""


@pytest.fixture
def site():
    with closing(Site()) as site:
        yield site


@pytest.fixture
def via(site, database):
    """Start a proxy that wants a login, and add it under its name."""
    started = []

    def via(name: str) -> HttpProxy:
        proxy = HttpProxy(name, site.port, USER, WORD)
        started.append(proxy)
        proxies.add(database, Proxy.parse(proxy.url, name=name))
        return proxy

    yield via
    for proxy in started:
        proxy.close()


@pytest.fixture
def looking(tmp_path):
    path = tmp_path / "looking.py"
    path.write_text(TASKS, encoding="utf-8")
    return path


def outcomes(queue, job_id: int) -> list[str]:
    return [row["outcome"] for row in queue.history(job_id)]


def state_of(database, name: str) -> dict:
    return next(row for row in proxies.all_proxies(database) if row["name"] == name)
