"""Real runs through real proxies: a blocked job takes the next one, nothing goes out directly."""

from __future__ import annotations

import signal

from tests.lifecycle.conftest import wait_until
from tests.lifecycle.proxies.conftest import QUICK, SHOP, outcomes, state_of
from worker.models import Outcome
from worker.profiles import store
from worker.proxies import blocks
from worker.proxies import store as proxies


def test_a_blocked_job_is_done_through_the_next_proxy(launch, queue, database, site, via, looking):
    first, second = via("first"), via("second")
    site.refused_proxies = {"first"}
    job = queue.enqueue("visit", {"url": SHOP})

    run = launch("--workers", 1, *QUICK, looking)

    assert run.wait(60) == 0
    assert queue.get(job)["status"] == "done"
    assert outcomes(queue, job) == [Outcome.BLOCKED, Outcome.DONE]
    assert site.asked == {"first": 1, "second": 1}
    assert (first.refused_logins, second.refused_logins) == (0, 0)
    assert state_of(database, "first")["blocks"] == 1
    assert state_of(database, "first")["cooling_seconds"] == 0
    (cooling,) = blocks.cooling(database)
    assert (cooling["proxy_id"], cooling["site"]) == (
        state_of(database, "first")["id"],
        "shop.test",
    )
    assert 500 < cooling["cooling_seconds"] <= 600
    assert (
        f"proxy first (http://127.0.0.1:{first.port}) is left alone a while at shop" in run.stderr
    )


def test_without_proxies_a_blocked_job_comes_back_in_a_fresh_context(launch, queue, site, looking):
    site.first_refused = 1
    url = f"http://127.0.0.1:{site.port}/"
    job = queue.enqueue("visit", {"url": url})

    assert launch("--workers", 1, *QUICK, looking).wait(60) == 0
    assert outcomes(queue, job) == [Outcome.BLOCKED, Outcome.DONE]
    assert site.cookies == [None, None]


def test_nothing_goes_out_without_a_proxy_while_there_are_some(
    launch, queue, database, site, via, looking
):
    via("only")
    job = queue.enqueue("visit", {"url": f"http://127.0.0.1:{site.port}/"})
    proxies.disable(database, "only")

    run = launch("--workers", 1, *QUICK, looking)

    assert run.wait(60) == 11
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("pending", 0)
    assert site.asked == {}
    assert "the only proxy is disabled; enable or remove" in run.stdout

    proxies.enable(database, "only")
    assert launch("--workers", 1, *QUICK, looking).wait(60) == 0
    assert queue.get(job)["status"] == "done"
    assert site.asked == {"only": 1}


def test_a_proxy_disabled_during_a_run_is_left_within_seconds(
    launch, queue, database, site, via, looking
):
    via("first")
    queue.enqueue("visit", {"url": SHOP})
    run = launch("--workers", 1, "--follow", *QUICK, looking)
    wait_until(lambda: site.asked["first"] == 1, "the first visit", 40)

    via("second")
    proxies.disable(database, "first")

    def goes_through_the_second() -> bool:
        queue.enqueue("visit", {"url": SHOP})
        return site.asked["second"] > 0

    wait_until(goes_through_the_second, "the other proxy is used", 15, every=0.3)
    run.signal(15)
    assert run.wait(30) == 0
    assert set(site.asked) == {"first", "second"}


def test_an_account_is_seen_through_one_proxy_whatever_others_use(
    launch, queue, database, site, via, looking
):
    for name in ("first", "second", "third"):
        via(name)
    accounts = {}
    for number in range(12):
        account = f"account-{number % 3}"
        store.add_account(database, account, by="me")
        job = queue.enqueue("visit", {"url": f"{SHOP}?{account}"})
        accounts[job] = account
        database.run_statement(
            "UPDATE work_queue SET account_id = %(account)s WHERE id = %(id)s",
            {"account": account, "id": job},
        )
        queue.enqueue("visit", {"url": SHOP})

    assert launch("--workers", 2, *QUICK, looking).wait(60) == 0
    assert queue.counts()["done"] == 24
    # Ordinary jobs take turns as well, so accounts may share a proxy; none of them has two.
    seen = {pair for pair in site.queries if pair[1]}
    assert sorted(account for _, account in seen) == ["account-0", "account-1", "account-2"]
    assert None not in site.asked


def test_a_site_that_refuses_every_proxy_holds_up_no_other_site(
    launch, queue, database, site, via, looking
):
    via("first")
    via("second")
    site.refused_hosts = {"shop.test"}
    refused = [queue.enqueue("visit", {"url": SHOP}) for _ in range(6)]
    calm = [queue.enqueue("visit", {"url": "http://calm.test/"}) for _ in range(12)]

    run = launch("--workers", 1, "--wait-retries", "5s", *QUICK, looking)

    assert run.wait(60) == 11
    assert {queue.get(job)["status"] for job in calm} == {"done"}
    assert {queue.get(job)["status"] for job in refused} == {"pending"}
    # Each proxy was refused once; then no job was tried any more, nor claimed to be handed back.
    endings = [outcome for job in refused for outcome in outcomes(queue, job)]
    assert endings == [Outcome.BLOCKED] * 2
    assert None not in site.asked
    assert "all proxies cool down at shop.test after blocks" in run.stdout


def test_a_run_says_once_that_there_are_no_proxies_any_more(
    launch, queue, database, site, via, looking
):
    via("only")
    run = launch("--workers", 1, "--follow", *QUICK, looking)
    job = queue.enqueue("visit", {"url": SHOP})
    wait_until(lambda: queue.get(job)["status"] == "done", "the first job is done", 60)

    proxies.remove(database, "only")
    url = f"http://127.0.0.1:{site.port}/"

    def says_so() -> bool:
        # A worker looks at the proxies before a job, every five seconds.
        queue.enqueue("visit", {"url": url})
        return "there are no proxies any more: pages go out directly" in run.stderr

    wait_until(says_so, "the worker notices", 60, every=1.0)
    wait_until(lambda: site.asked[None] > 1, "further jobs go out directly", 60)
    run.signal(signal.SIGTERM)
    run.wait(60)
    assert run.stderr.count("there are no proxies any more") == 1
