"""Everything that waits for a person is in one list: why, since when, how many jobs, what to do."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker.guards import breakers
from worker.history import todo as module
from worker.history.todo import everything
from worker.models import Ending, Outcome
from worker.profiles import store
from worker.profiles.states import State
from worker.profiles.store import NewProfile
from worker.proxies import choice
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy
from worker.queue import pause

STEP = "placing order"


@pytest.fixture
def cli(settings, database, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def add(database, *names: str, **fields: object) -> None:
    store.add(database, [NewProfile(name, **fields) for name in names], "me")  # type: ignore[arg-type]


def by_kind(database) -> dict[str, list[tuple[str, int, str]]]:
    found: dict[str, list[tuple[str, int, str]]] = {}
    for item in everything(database).items:
        found.setdefault(item.kind, []).append((item.name, item.jobs, item.command))
    return found


def test_nothing_waits_on_a_quiet_evening(cli, database, queue):
    add(database, "p1", account_id="ada")
    queue.enqueue("order", {}, profile_id="p1")

    assert everything(database).items == []
    answer = cli("todo")
    assert (answer.returncode, answer.stdout) == (0, "nothing waits for a person\n")
    assert cli("todo", "--json").stdout == '{"items": [], "is_lower_bound": false}\n'


def test_half_done_jobs_come_first_by_their_step(database, queue, claim_as):
    pause.pause(database, "the site moves", "me")
    for step in (STEP, STEP, "paying"):
        queue.enqueue("order", {})
        queue.end(claim_as(), Ending(Outcome.CRASHED, "killed", irreversible_step=step))

    first, second, third = everything(database).items

    assert (first.kind, first.name, first.jobs) == ("half done", "2 jobs", 2)
    assert first.reason == f"task order: may be half done at '{STEP}'"
    assert first.command.startswith("launcher.py errors ")
    assert (second.name, second.command) == ("job 3", "launcher.py show 3")
    assert second.since is not None
    assert (third.kind, third.command) == ("pause", "launcher.py resume")


def test_profiles_that_are_set_aside_with_the_jobs_that_want_them(database, queue):
    add(database, "p1", "p2", account_id="ada")
    add(database, "p3", account_id="bob")
    add(database, "p4", "p5")
    for name, state in (
        ("p1", State.QUARANTINED),
        ("p3", State.REVIEW_REQUIRED),
        ("p4", State.DISABLED),
        ("p5", State.DISABLED),
    ):
        store.set_state(database, name, state, reason="odd", by="me")
    for wanted in (
        {"profile_id": "p1"},
        # Ada has another profile, so her job hangs on nobody. Bob has not.
        {"account_id": "ada"},
        {"account_id": "bob"},
        {"profile_id": "p3"},
        {"profile_id": "p4"},
    ):
        queue.enqueue("order", {}, **wanted)

    found = by_kind(database)["profile"]

    assert [(name, jobs) for name, jobs, _ in found] == [("p1", 1), ("p3", 2), ("p4", 1)]
    assert found[0][2] == "launcher.py profiles clear p1 --reason …"


def test_an_overdue_checkout_and_a_paused_account(database, queue):
    add(database, "p1", account_id="ada")
    add(database, "p2", account_id="bob")
    store.check_out(database, "p1", person="eve@night", seconds=60, reason="a look")
    store.check_out(database, "p2", person="eve@night", seconds=60, reason="a look")
    database.run_statement(
        "UPDATE profile_leases SET expires_at = '2020-01-01' WHERE profile_id = 'p1'"
    )
    store.pause_account(database, "bob", reason="banned?", by="me")
    for profile in ("p1", "p2", "p2"):
        queue.enqueue("order", {}, profile_id=profile)

    found = by_kind(database)

    assert found["checkout"] == [("p1", 1, "launcher.py profiles return p1")]
    assert found["account"] == [("bob", 2, "launcher.py accounts resume bob")]
    reasons = {item.kind: item.reason for item in everything(database).items}
    assert reasons["checkout"].startswith("checked out by eve@night")
    assert reasons["account"] == "paused by me: banned?"


def test_proxies_out_of_use_and_breakers_that_are_held_open(database, queue):
    for name in ("berlin", "paris", "gone"):
        proxies.add(database, replace(Proxy.parse("http://127.0.0.1:1"), name=name))
    add(database, "p1", proxy="berlin")
    add(database, "p2", proxy="gone")
    proxies.disable(database, "berlin", "expired")
    proxies.remove(database, "gone")
    breakers.open_by_hand(database, "site:shop.example", None, "they asked", "me")
    breakers.open_by_hand(database, "site:other.example", 60, "for a minute", "me")
    queue.enqueue("order", {}, profile_id="p1")
    queue.enqueue("order", {}, profile_id="p2")
    queue.enqueue("order", {"url": "https://shop.example/"})

    found = by_kind(database)

    assert found["proxy"] == [
        ("berlin", 1, "launcher.py proxies enable berlin"),
        ("gone", 1, "launcher.py proxies add gone"),
    ]
    assert found["breaker"] == [
        ("site:shop.example", 1, "launcher.py breakers close site:shop.example")
    ]


def test_a_proxy_that_refuses_the_login_until_it_works(database, queue):
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:1"), name="berlin"))
    (row,) = proxies.all_proxies(database)
    choice.note_unreachable(database, row["id"], "berlin: it refuses the login (HTTP 407)")

    assert by_kind(database) == {"proxy": [("berlin", 0, "launcher.py proxies set berlin")]}
    assert everything(database).items[0].reason == "it refuses the login"
    choice.note_success(database, row["id"])
    assert by_kind(database) == {}


def test_profiles_that_do_not_say_how_they_go_out_where_there_are_proxies(database, queue):
    add(database, "p1")
    add(database, "p2", proxy="none")
    queue.enqueue("order", {}, profile_id="p1")
    assert by_kind(database) == {}
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:1"), name="berlin"))

    assert by_kind(database) == {"profile": [("p1", 1, "launcher.py profiles set p1 --proxy …")]}


def test_of_a_long_queue_the_numbers_are_lower_bounds(database, queue, monkeypatch):
    monkeypatch.setattr(module, "LOOK_AT", 3)
    add(database, "p1")
    store.set_state(database, "p1", State.QUARANTINED, reason="odd", by="me")
    for _ in range(5):
        queue.enqueue("order", {}, profile_id="p1")

    found = everything(database)

    assert found.is_lower_bound
    assert [item.jobs for item in found.items] == [3]


def test_the_list_is_read_by_people(cli, database, queue):
    add(database, "p1")
    store.set_state(database, "p1", State.QUARANTINED, reason="odd \x1b[31m", by="me")
    queue.enqueue("order", {}, profile_id="p1")

    said = cli("todo").stdout.splitlines()

    assert said[0] == "1 thing to do:"
    assert said[1] == "  profile p1: quarantined: odd ?[31m"
    assert said[2].endswith("1 pending job hangs on it; launcher.py profiles clear p1 --reason …")
