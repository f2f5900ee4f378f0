"""Who is to blame: a dead proxy costs no attempt (invariant 4), a dead site does."""

from __future__ import annotations

import pytest

from tests.lifecycle.proxies.conftest import QUICK, SHOP, USER, WORD, state_of
from worker.models import Outcome
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


def test_a_dead_proxy_costs_no_attempt(launch, queue, database, site, via, looking, closed_port):
    proxies.add(database, Proxy("http", "127.0.0.1", closed_port, USER, WORD, name="dead"))
    via("alive")
    job = queue.enqueue("visit", {"url": SHOP}, max_attempts=1)

    run = launch("--workers", 1, *QUICK, looking)

    assert run.wait(60) == 0
    assert queue.get(job)["status"] == "done"
    assert queue.get(job)["attempts"] == 1
    back, done = queue.history(job)
    assert (back["outcome"], done["outcome"]) == (Outcome.HANDED_BACK, Outcome.DONE)
    assert back["reason"] == (
        f"proxy dead (http://127.0.0.1:{closed_port}) cannot be used: "
        "net::ERR_PROXY_CONNECTION_FAILED"
    )
    (cooling,) = database.run_statement("SELECT cooling_until FROM proxies WHERE name = 'dead'")
    rest = cooling["cooling_until"] - back["finished_at"]
    assert rest.total_seconds() == pytest.approx(60, abs=20)
    assert state_of(database, "dead")["blocks"] == 0


@pytest.mark.parametrize("url", [SHOP, "https://shop.test/"])
def test_a_refused_login_is_the_proxys_fault(launch, queue, database, site, via, looking, url):
    right = via("right")
    proxies.disable(database, "right")
    proxies.add(database, Proxy("http", "127.0.0.1", right.port, USER, "stale", name="stale"))
    job = queue.enqueue("visit", {"url": url}, max_attempts=1)

    # Over https the refusal is only known when the page's time is over.
    flags = ("--wait-retries", "5s", "--page-timeout", "8s")
    run = launch("--workers", 1, *flags, *QUICK, looking)

    assert run.wait(60) == 11
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("pending", 0)
    assert "proxy stale" in queue.history(job)[0]["reason"]
    assert site.asked == {}


def test_a_dead_site_behind_good_proxies_is_the_sites_fault(
    launch, queue, database, site, via, looking
):
    via("first")
    via("second")
    dead = [queue.enqueue("visit", {"url": "https://dead.test/"}, max_attempts=1) for _ in "123"]
    good = [queue.enqueue("visit", {"url": SHOP}) for _ in "123"]

    run = launch("--workers", 1, *QUICK, looking)

    assert run.wait(60) == 0
    assert {queue.get(job)["status"] for job in dead} == {"error"}
    assert {queue.get(job)["status"] for job in good} == {"done"}
    # One proxy was doubted once; the second one's failure showed who was to blame.
    cooling = [row["name"] for row in proxies.all_proxies(database) if row["cooling_seconds"] > 0]
    assert cooling == ["first"]
