"""Accounts, and profiles in `enqueue`, `why`, `status` and `show`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.conftest import because
from tests.integration.profile_cli import refused, said
from worker.guards import limits
from worker.models import Cause
from worker.profiles import lease_endings, store
from worker.profiles.states import State
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


def test_accounts_are_paused_listed_and_resumed(cli, add):
    assert said(cli("accounts", "list")).startswith("no accounts")
    add("p1", "p2", account_id="a1")
    assert "paused account a1" in said(cli("accounts", "pause", "a1", "--reason", "captcha"))
    line = said(cli("accounts", "list")).splitlines()[1]
    assert line.split()[:2] == ["a1", "2"]
    assert line.endswith("captcha")
    row = json.loads(said(cli("accounts", "list", "--json")))[0]
    assert (row["profiles"], row["paused_reason"]) == (2, "captcha")
    assert said(cli("accounts", "resume", "a1")) == "resumed account a1"
    assert said(cli("accounts", "resume", "a1")) == "a1 was not paused"
    assert "there is no account a9" in refused(cli("accounts", "resume", "a9"))
    assert "there is no account a9" in refused(cli("accounts", "pause", "a9", "--reason", "x"))
    assert "--reason" in refused(cli("accounts", "pause", "a1"))


def test_a_profile_or_account_that_there_is_none_of_is_one_line(cli, add, queue):
    add("p1", account_id="a1")

    assert refused(cli("enqueue", "https://a.example/", "--profile", "p9")) == (
        "nightshift: there is no profile p9; see: launcher.py profiles list"
    )
    assert refused(cli("enqueue", "https://a.example/", "--account", "a9")) == (
        "nightshift: there is no account a9; see: launcher.py accounts list"
    )
    assert sum(queue.counts().values()) == 0


def test_jobs_are_enqueued_for_one_profile_or_for_the_column_of_each(cli, add, database, tmp_path):
    add("p1", account_id="a1")
    said(cli("enqueue", "https://example.com/", "--profile", "p1", "--account", "a1"))
    table = tmp_path / "jobs.csv"
    table.write_text("url,who\nhttps://example.com/1,ada\nhttps://example.com/2,bob\n")
    said(cli("enqueue", table, "--map", "url=url", "--account", "{who}"))
    said(cli("enqueue", table, "--profile", "{who}-{who}", "--dedupe", "{url}"))
    said(cli("enqueue", table))

    rows = database.run_statement("SELECT profile_id, account_id FROM work_queue ORDER BY id")
    assert [tuple(row.values()) for row in rows] == [
        ("p1", "a1"),
        (None, "ada"),
        (None, "bob"),
        ("ada-ada", None),
        ("bob-bob", None),
        (None, None),
        (None, None),
    ]


def test_a_line_without_its_profile_is_a_bad_line(cli, queue, tmp_path):
    table = tmp_path / "jobs.csv"
    long = "x" * 65
    table.write_text(f"url,who\nhttps://a.example/,\nhttps://a.example/,{long}\n")

    told = refused(cli("enqueue", table, "--profile", "{who}"))

    assert 'line 2: its profile is incomplete: "who" is empty' in told
    assert "line 3: its profile is longer than 64 characters" in told
    assert 'there is no column "whom"' in refused(cli("enqueue", table, "--account", "{whom}"))
    assert "--account '{': " in refused(cli("enqueue", table, "--account", "{")).replace(
        " is not a template", ""
    )
    assert sum(queue.counts().values()) == 0


@pytest.fixture
def why(cli):
    """Ask why a job waits; the answer is one sentence."""

    def why(job: int) -> str:
        sentence = said(cli("why", job))
        assert "\n" not in sentence
        return sentence

    return why


def enqueue_for(queue, profile: str, **manifest: str) -> int:
    return queue.enqueue("visit", {"manifest": {"profile": profile} | manifest})


def test_why_tells_who_uses_a_jobs_profile(why, queue, worker, add):
    add("p1", account_id="a1")
    first, busy = enqueue_for(queue, "p1"), enqueue_for(queue, "p1")
    account = queue.enqueue("visit", {"manifest": {"account": "a1"}})
    assert worker.claim().job_id == first

    holder = f"worker 0 (incarnation 1000), job {first}"
    assert f"waits because profile p1 is in use ({holder}); next check in 1 s" in why(busy)
    assert f"no profile of account a1 is ready: profile p1 is in use ({holder})" in why(account)


def test_why_tells_of_a_proxy_elsewhere_and_of_a_vendors_limit(why, database, queue, worker, add):
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:1"), name="berlin", region="us"))
    add("p2", proxy="berlin", region="de")
    add("p3", "p4", provider="kameleo", vendor_id="v", proxy="none")
    limits.set_limit(database, "vendor:kameleo", concurrent=1, per_minute=None, by="me")
    region, _, capped = (enqueue_for(queue, name) for name in ("p2", "p3", "p4"))
    assert worker.claim().profile_id == "p3"

    assert "proxy berlin of profile p2 is in us, not in de" in why(region)
    assert "vendor:kameleo is limited to 1 at once (1 running)" in why(capped)


def test_why_tells_that_a_job_will_fail_when_it_is_tried(why, queue, add):
    add("p1")
    lost, bad = enqueue_for(queue, "p9"), enqueue_for(queue, "p1", on_conflict="panic")

    assert "will fail when it is tried: there is no profile p9" in why(lost)
    assert "will fail when it is tried: manifest.on_conflict" in why(bad)


def test_why_tells_what_state_a_jobs_profile_is_in(why, database, queue, worker, add):
    add("p1", account_id="a1")
    enqueue_for(queue, "p1")
    claim, busy = worker.claim(), enqueue_for(queue, "p1")

    lease_endings.end_unexplained(
        database, "p1", claim.lease_fence, author="sweep", reason="it expired"
    )
    assert "profile p1 is stale: it expired; next check in" in why(busy)
    store.set_state(database, "p1", State.QUARANTINED, reason="captcha loop", by="me")
    assert why(busy).endswith("waits because profile p1 is quarantined: captcha loop")
    store.set_state(database, "p1", State.AVAILABLE, reason="", by="me")
    store.check_out(database, "p1", person="ada@desk", seconds=3600, reason="")
    assert "profile p1 is in use (ada@desk); next check in 3" in why(busy)
    store.give_back(database, "p1", by="ada")
    assert "nothing is running" in why(busy)
    assert store.get(database, "p1")["state"] == "available"


def test_why_tells_that_a_jobs_account_is_paused(why, database, queue, add):
    add("p1", account_id="a1")
    job = enqueue_for(queue, "p1")
    account = queue.enqueue("visit", {"manifest": {"account": "a1"}})
    store.pause_account(database, "a1", reason="holiday", by="me")

    assert "account a1 is paused: holiday" in why(job)
    assert "account a1 is paused: holiday" in why(account)


def test_the_status_counts_profiles_and_paused_accounts(cli, database, add):
    assert "profiles" not in said(cli("status"))
    add("p1", "p2", account_id="a1")
    add("p3")
    store.set_state(database, "p3", State.QUARANTINED, reason="x", by="me")
    assert said(cli("status")).endswith("profiles: 2 available, 1 quarantined")
    store.pause_account(database, "a1", reason="x", by="me")
    assert said(cli("status")).endswith("1 quarantined; 1 account paused")
    told = json.loads(said(cli("status", "--json")))
    assert told["profiles"] == {"available": 2, "quarantined": 1}
    assert told["accounts_paused"] == 1


def test_show_tells_a_jobs_profile_and_who_was_at_fault(cli, queue, worker, add):
    add("p1", account_id="a1")
    job = queue.enqueue("visit", {"manifest": {"profile": "p1", "account": "a1"}})
    queue.fail(worker.claim(), because("the vendor said no", cause=Cause.PROFILE))

    shown = said(cli("show", job))

    assert "  profile   p1 account a1\n" in shown
    assert ", at fault: profile\n" in shown
    told = json.loads(said(cli("show", job, "--json")))
    assert told["attempts"][0]["cause"] == "profile"
    assert told["job"]["profile"] == "p1"
