"""Whose turn it is: proxies are spread, kept by accounts, and left alone a while after a block."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import closing

import pytest

from tests.integration.proxy_fixtures import (
    SITE,
    block,
    chosen,
    cool_off,
    id_of,
    look,
    stop_the_clock,
)
from worker.claiming.closed_keys import ClosedKeys
from worker.database.client import Database
from worker.proxies import choice
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


def test_without_proxies_there_is_none_to_choose_and_nothing_is_closed(database):
    closures = ClosedKeys(database)
    closures.refresh()

    assert choice.look(database).proxy is None
    assert choice.look(database).reason == ""
    assert closures.closed == {}


def test_a_chosen_proxy_is_the_one_that_was_added(database):
    proxy = Proxy("https", "gate.example", 8443, "nïght", "p@ss:w%rd", region="de", name="gate")
    proxies.add(database, proxy)

    found = choice.look(database).proxy

    assert (found.url, found.region, found.name) == (proxy.url, "de", "gate")


def test_proxies_take_turns(database, add):
    add("a", "b", "c")

    assert [chosen(database) for _ in range(6)] == ["a", "b", "c", "a", "b", "c"]


def test_never_blocked_comes_before_blocked_and_long_ago_before_lately(database, add):
    add("a", "b", "c")
    block(database, "b")
    block(database, "a")
    cool_off(database, "a", "b")

    assert [chosen(database) for _ in range(2)] == ["c", "c"]
    proxies.disable(database, "c")
    assert chosen(database) == "b"


def test_a_blocked_proxy_cools_down_and_comes_back(database, add):
    stop_the_clock(database)
    add("a")
    block(database, "a", cooldown_seconds=600)

    assert chosen(database) is None
    assert look(database).seconds == 600
    cool_off(database, "a")
    assert chosen(database) == "a"


def test_the_site_may_ask_for_a_longer_rest_but_not_for_a_shorter(database, add):
    stop_the_clock(database)
    add("a")
    block(database, "a", cooldown_seconds=600, retry_after=5)
    assert look(database).seconds == 600
    block(database, "a", cooldown_seconds=600, retry_after=3600)
    assert look(database).seconds == 3600
    block(database, "a", cooldown_seconds=600)
    assert look(database).seconds == 3600


def test_one_answer_keeps_a_proxy_away_for_an_hour_at_most(database, add):
    stop_the_clock(database)
    add("a")

    block(database, "a", cooldown_seconds=600, retry_after=30 * 86400)

    assert look(database).seconds == 3600


def test_a_proxy_that_fails_again_and_again_rests_longer_until_it_works(database, add):
    stop_the_clock(database)
    add("a")
    a = id_of(database, "a")
    rests = []
    for _ in range(8):
        choice.note_unreachable(database, a, "net::ERR_PROXY_CONNECTION_FAILED")
        choice.note_unreachable(database, a, "told by another worker at the same time")
        rests.append(choice.look(database).seconds)
        cool_off(database, "a")

    assert rests == [60, 120, 240, 480, 960, 1800, 1800, 1800]
    choice.note_success(database, a)
    choice.note_unreachable(database, a, "again")
    assert choice.look(database).seconds == 60
    assert [row["blocks"] for row in proxies.all_proxies(database)] == [0]


def test_a_region_is_kept_to(database, add):
    add("a", region="de")
    add("b", region="us")

    assert {chosen(database, region="us") for _ in range(3)} == {"b"}
    assert chosen(database, region="fr") is None
    assert choice.look(database, region="fr").reason == "no proxy of region fr can be used now"


def test_an_account_keeps_its_proxy(database, add):
    add("a", "b", "c")
    first = {account: chosen(database, account_id=account) for account in ("x", "y", "z")}

    assert sorted(first.values()) == ["a", "b", "c"]
    for _ in range(3):
        assert {each: chosen(database, account_id=each) for each in first} == first


def test_an_account_waits_for_its_proxy_rather_than_change_its_address(database, add):
    add("a", "b")
    own = chosen(database, account_id="x")
    block(database, own)

    found = look(database, account_id="x")
    assert found.proxy is None
    assert found.reason == f"the account's proxy {own} cools down at {SITE}"
    assert chosen(database) != own
    cool_off(database, own)
    assert chosen(database, account_id="x") == own


@pytest.mark.parametrize("part", [proxies.disable, proxies.remove])
def test_an_account_gets_another_proxy_when_its_own_is_gone(database, add, part):
    add("a", "b")
    own = chosen(database, account_id="x")
    part(database, own)

    other = chosen(database, account_id="x")

    assert other is not None
    assert other != own
    if part is proxies.disable:
        proxies.enable(database, own)
    assert chosen(database, account_id="x") == other


def test_workers_that_choose_at_once_spread_evenly(database, add):
    add("a", "b", "c", "d")
    names: list[str | None] = []
    start = threading.Barrier(4)

    def choose_often() -> None:
        with closing(Database(database.settings)) as db:
            start.wait(10)
            names.extend([chosen(db) for _ in range(20)])

    threads = [threading.Thread(target=choose_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert Counter(names) == {"a": 20, "b": 20, "c": 20, "d": 20}


def test_workers_that_meet_a_new_account_at_once_give_it_one_proxy(database, add):
    add("a", "b", "c", "d")
    seen: list[tuple[str, str | None]] = []
    start = threading.Barrier(4)

    def choose_often() -> None:
        with closing(Database(database.settings)) as db:
            start.wait(10)
            for number in range(15):
                account = f"account-{number}"
                seen.append((account, chosen(db, account_id=account)))

    threads = [threading.Thread(target=choose_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(seen) == 60
    assert len(set(seen)) == 15


def test_a_block_at_one_site_leaves_a_proxy_for_the_others(database, add):
    add("a", "b")
    block(database, "a", site="shop.test")

    assert {chosen(database, "shop.test") for _ in range(3)} == {"b"}
    assert chosen(database, "") == "b", "never blocked comes first"
    block(database, "b", site="shop.test")
    assert look(database, "shop.test").reason == (
        "all 2 proxies cool down at shop.test after blocks or failures"
    )
    assert chosen(database, "other.test") in ("a", "b")
    assert chosen(database, "") in ("a", "b")
    assert choice.look(database).proxy is not None


def test_proxies_that_refuse_the_login_are_said_to(database, add):
    add("a", "b")
    refusal = "it refuses the login (HTTP 407)"
    choice.note_unreachable(database, id_of(database, "a"), refusal)
    block(database, "b", site="shop.test")
    assert look(database, "shop.test").reason == (
        "all 2 proxies cool down at shop.test after blocks or failures, "
        "1 of them because the login is refused"
    )
    choice.note_unreachable(database, id_of(database, "b"), refusal)

    assert look(database, "shop.test").reason == (
        "all 2 proxies refuse the login; set it right: launcher.py proxies set NAME"
    )


def test_blocked_at_the_site_itself_counts_before_blocked_elsewhere(database, add):
    add("a", "b")
    block(database, "b", site="other.test")
    block(database, "a", site="shop.test")
    cool_off(database, "a", "b")
    block(database, "b", site="third.test")

    assert chosen(database, "shop.test") == "b"
    assert chosen(database, "other.test") == "a"


def test_blocks_are_forgotten_in_time_and_with_their_proxy(database, add):
    add("a", "b")
    block(database, "a", site="old.test")
    database.run_statement("UPDATE proxy_blocks SET cooling_until = '2020-01-01'")
    block(database, "a", site="new.test")
    block(database, "b", site="new.test")

    def sites():
        rows = database.run_statement("SELECT proxy_id, site FROM proxy_blocks ORDER BY proxy_id")
        return [row["site"] for row in rows]

    assert sites() == ["new.test", "new.test"]
    proxies.enable(database, "b")
    assert sites() == ["new.test"]
    gone = id_of(database, "a")
    proxies.remove(database, "a")
    choice.note_block(database, gone, site="new.test")
    assert sites() == []
