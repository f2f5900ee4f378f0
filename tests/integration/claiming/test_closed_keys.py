"""Jobs whose proxies cool down: they are left alone, and hold up no other site."""

from __future__ import annotations

import os

import pytest

from tests.integration.proxy_fixtures import block, chosen, cool_off, id_of, look, stop_the_clock
from worker.claiming import held_back
from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.scope import Scope
from worker.claiming.why import sentence_about
from worker.models import Partition
from worker.profiles import store
from worker.proxies import choice
from worker.proxies import store as proxies
from worker.queue import runs
from worker.settings import RunSettings


@pytest.fixture
def ready(database):
    """Names the jobs that a worker would find now."""

    def ready(scope: Scope | None = None) -> list[int]:
        closures = ClosedKeys(database, scope)
        candidates = Candidates(database, Partition(0, 1), closures=closures)
        found = []
        while (candidate := candidates.next()) is not None:
            found.append(candidate.job_id)
            if len(found) > 20:
                break
        return sorted(set(found))

    return ready


def enqueue(database, queue, url="http://shop.test/", task="visit", **columns) -> int:
    job_id = queue.enqueue(task, {"url": url} if url else {})
    for column, value in columns.items():
        database.run_statement(
            f"UPDATE work_queue SET {column} = %(value)s WHERE id = %(id)s",
            {"value": value, "id": job_id},
        )
    return job_id


def test_while_no_proxy_can_be_used_only_jobs_of_profiles_are_found(database, queue, add, ready):
    stop_the_clock(database)
    add("a", "b")
    ordinary = enqueue(database, queue)
    in_profile = enqueue(database, queue, profile_id="p1")
    assert ready() == [ordinary, in_profile]
    block(database, "a", cooldown_seconds=300)
    assert ready() == [ordinary, in_profile]

    block(database, "b", cooldown_seconds=600)

    assert ready() == [in_profile]
    closures = ClosedKeys(database)
    closures.refresh()
    assert closures.closed["exit:shop.test"].reason == (
        "all proxies cool down at shop.test after blocks"
    )
    assert closures.next_opening_seconds == 300
    cool_off(database, "a")
    assert ready() == [ordinary, in_profile]


def test_disabled_proxies_do_not_mean_that_jobs_go_out_without(database, queue, add, ready):
    add("a", "b")
    ordinary = enqueue(database, queue)
    proxies.disable(database, "a")
    proxies.disable(database, "b")

    assert ready() == []
    closures = ClosedKeys(database)
    closures.refresh()
    assert "all 2 proxies are disabled" in closures.closed["proxies"].reason
    assert closures.next_opening_seconds is None
    proxies.remove(database, "a")
    proxies.remove(database, "b")
    assert ready() == [ordinary]


def test_jobs_of_an_account_whose_proxy_cools_down_are_left_alone(database, queue, add, ready):
    add("a", "b")
    own = chosen(database, account_id="x")
    ordinary = enqueue(database, queue)
    waiting = enqueue(database, queue, account_id="x")
    other = enqueue(database, queue, account_id="y")
    in_profile = enqueue(database, queue, account_id="x", profile_id="p1")
    block(database, own)

    assert ready() == [ordinary, other, in_profile]
    cool_off(database, own)
    assert waiting in ready()


def test_jobs_without_a_site_have_one_together(database, queue, add, ready):
    add("a")
    without = enqueue(database, queue, url="")
    at_shop = enqueue(database, queue)
    block(database, "a", site="")

    assert ready() == [at_shop]
    assert look(database, "").reason.startswith("the only proxy cools down for jobs without a site")
    cool_off(database, "a")
    assert ready() == [without, at_shop]


def test_a_proxys_own_failure_counts_for_every_site(database, queue, add, ready):
    add("a")
    enqueue(database, queue)
    enqueue(database, queue, url="http://other.test/")
    choice.note_unreachable(database, id_of(database, "a"), "net::ERR_PROXY_CONNECTION_FAILED")

    assert [chosen(database, site) for site in ("shop.test", "other.test", "")] == [None] * 3
    assert ready() == []
    closures = ClosedKeys(database)
    closures.refresh()
    assert closures.closed["proxies"].reason == (
        "the only proxy cools down after blocks or failures"
    )


def test_a_site_that_blocks_every_proxy_holds_up_no_other_site(database, queue, add, ready):
    add("a", "b")
    at_shop = enqueue(database, queue)
    elsewhere = enqueue(database, queue, url="http://other.test/")
    block(database, "a", cooldown_seconds=300)
    block(database, "b", cooldown_seconds=600)

    assert ready() == [elsewhere]
    closures = ClosedKeys(database)
    closures.refresh()
    assert set(closures.closed) == {"exit:shop.test"}
    assert sentence_about(database, queue.get(at_shop)).startswith(
        f"job {at_shop} waits because all proxies cool down at shop.test after blocks; next check"
    )
    assert "nothing is running" in sentence_about(database, queue.get(elsewhere))
    # A proxy that fails itself is no way out.
    proxies.enable(database, "b")
    assert ready() == [at_shop, elsewhere]
    choice.note_unreachable(database, id_of(database, "b"), "net::ERR_PROXY_CONNECTION_FAILED")
    assert ready() == [elsewhere]


def test_an_accounts_jobs_wait_only_where_its_proxy_is_blocked(database, queue, add, ready):
    add("a", "b")
    own = chosen(database, account_id="x")
    waiting = enqueue(database, queue, account_id="x")
    elsewhere = enqueue(database, queue, url="http://other.test/", account_id="x")
    block(database, own)

    assert ready() == [elsewhere]
    assert look(database, account_id="x").proxy is None
    assert chosen(database, "other.test", account_id="x") == own
    cool_off(database, own)
    assert ready() == [waiting, elsewhere]


WITHOUT_BROWSER = Scope(without_browser=frozenset({"tidy"}))


@pytest.fixture
def at_work(database):
    """A run at work, one of whose tasks needs no browser."""
    settings = RunSettings(database=database.settings, workers=1)
    return runs.start_run(database, settings, os.getpid(), ["tidy", "visit"], ["tidy"])


def out_of_use(database) -> None:
    for name in ("a", "b"):
        proxies.disable(database, name)


def cooling_everywhere(database) -> None:
    for name in ("a", "b"):
        block(database, name, site="shop.test")


def cooling_for_the_account(database) -> None:
    store.add_account(database, "x", by="me")
    own = chosen(database, "shop.test", account_id="x")
    choice.note_unreachable(database, id_of(database, own), "net::ERR_PROXY_CONNECTION_FAILED")


@pytest.mark.parametrize(
    ("close", "account"),
    [(out_of_use, None), (cooling_everywhere, None), (cooling_for_the_account, "x")],
)
def test_a_task_without_a_browser_waits_for_no_proxy(
    database, queue, add, ready, at_work, close, account
):
    add("a", "b")
    page = enqueue(database, queue, account_id=account)
    tidy = enqueue(database, queue, task="tidy", account_id=account)
    close(database)

    assert ready(WITHOUT_BROWSER) == [tidy]
    # What others are told agrees with that.
    assert "waits because" in sentence_about(database, queue.get(page))
    assert sentence_about(database, queue.get(tidy)).startswith(f"job {tidy} is ready")
    assert [item.jobs for item in held_back.count(database)] == [1]
    assert [item.jobs for item in held_back.count(database, scope=WITHOUT_BROWSER)] == [1]
    # Where no run has said so, any task may have a page.
    assert ready() == []


def test_which_tasks_need_no_browser_is_still_known_when_their_run_has_ended(
    database, queue, add, at_work
):
    add("a", "b")
    tidy = enqueue(database, queue, task="tidy")
    out_of_use(database)
    runs.end_run(database, at_work, {})

    assert "is ready, but nothing is running" in sentence_about(database, queue.get(tidy))
    assert held_back.count(database) == []
