"""`launcher.py profiles set` and `remove`: what is changed, refused, kept and forgotten."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.integration.profile_cli import SECRET, ids, refused, said
from tests.lifecycle.conftest import REPO, clean_environment, url_of, wait_until
from worker.cli.wording import operator
from worker.guards import breakers
from worker.profiles import lease_endings, leases, store
from worker.profiles.states import State
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


@pytest.fixture
def berlin(database):
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:1"), name="berlin", region="de"))


def latest(database, profile_id="p1") -> dict:
    return store.history(database, profile_id, 1)[0]


def test_every_field_can_be_changed_and_the_history_says_by_whom(cli, database, berlin):
    said(cli("profiles", "add", "p1", "--provider", "multilogin", "--vendor-id", "v1"))
    flags = "--account a2 --vendor-id v2 --proxy berlin --region de --max-active-runs 3"
    more = "--release-policy review --allow visit --allow price --option folder_id=f9"

    told = said(cli("profiles", "set", "p1", *flags.split(), *more.split()))

    assert told.startswith("changed p1: account – → a2, ")
    row = store.get(database, "p1")
    assert (row["account_id"], row["vendor_id"], row["proxy"]) == ("a2", "v2", "berlin")
    assert (row["region"], row["max_active_runs"], row["release_policy"]) == ("de", 3, "review")
    assert json.loads(row["allowed_actions"]) == ["visit", "price"]
    assert json.loads(row["options"]) == {"folder_id": "f9"}
    assert [row["id"] for row in database.fetch_all("list_accounts")] == ["a2"]
    event = latest(database)
    assert (event["event"], event["author"], event["account_id"]) == ("changed", operator(), "a2")
    assert "max_active_runs 1 → 3" in event["reason"]
    assert "allow every task → visit price" in event["reason"]
    assert f"changed: {event['reason']}" in said(cli("profiles", "history", "p1"))


def test_what_is_not_named_stays_and_what_is_set_can_be_taken_away(cli, database, berlin):
    flags = "--account a1 --proxy berlin --region de --allow visit --folder /srv/p1"
    said(cli("profiles", "add", "p1", *flags.split()))
    before = store.get(database, "p1")

    said(cli("profiles", "set", "p1", "--release-policy", "review"))
    assert store.get(database, "p1") == before | {"release_policy": "review"}

    said(cli("profiles", "set", "p1", "--no-proxy", "--no-region", "--no-account", "--allow-all"))
    row = store.get(database, "p1")
    assert [row[name] for name in ("proxy", "region", "account_id", "allowed_actions")] == [
        None
    ] * 4
    events = store.history(database, "p1", 100)
    told = said(cli("profiles", "set", "p1", "--no-proxy"))
    assert told == "profile p1 already has these values; nothing was changed"
    assert store.history(database, "p1", 100) == events


def test_one_option_is_changed_and_the_others_stay(cli, database, add):
    add("p1", provider="multilogin", vendor_id="v", options={"folder_id": "a", "token": "hunter2"})

    told = said(cli("profiles", "set", "p1", "--option", "folder_id=b", "--option", "core=7"))

    assert json.loads(store.get(database, "p1")["options"]) == {
        "folder_id": "b", "token": "hunter2", "core": "7",
    }  # fmt: skip
    assert "hunter2" not in told + latest(database)["reason"]
    said(cli("profiles", "set", "p1", "--option", "core="))
    assert sorted(json.loads(store.get(database, "p1")["options"])) == ["folder_id", "token"]


def test_an_endpoint_with_a_login_is_read_from_stdin_and_shown_nowhere(cli, database):
    said(cli("profiles", "add", "p1", "--provider", "cdp", "--endpoint", "http://127.0.0.1:9222"))
    line = refused(cli("profiles", "set", "p1", "--endpoint", SECRET))
    assert "everybody on this machine can see" in line

    told = said(cli("profiles", "set", "p1", "--endpoint", "-", stdin=f"{SECRET}\n"))

    assert store.get(database, "p1")["endpoint"] == SECRET
    assert "hunter2" not in told + latest(database)["reason"] + line
    assert told == "changed p1: endpoint http://127.0.0.1:9222 → ws://127.0.0.1:9222/…"


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ("p1", "say what to change"),
        ("p1 --proxy nowhere", "there is no proxy named 'nowhere'"),
        ("p1 --proxy x --no-proxy", "--proxy and --no-proxy contradict each other"),
        ("p1 --allow x --allow-all", "--allow and --allow-all contradict each other"),
        ("p1 --release-policy panic", "release_policy must be one of check, review, quarantine"),
        ("p1 --max-active-runs 2", "only one browser can use"),
        ("p1 --vendor-id 7", "a local profile has no vendor_id"),
        ("p1 --account a/1", "an account may hold only letters"),
        ("p1 --folder /srv/other", "profile other already uses that browser"),
        ("p1 --option password=x", "everybody on this machine can see"),
        ("p9 --region de", "there is no profile p9; see: launcher.py profiles list"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_changes_nothing(cli, database, add, flags, reason):
    add("p1", folder="/srv/p1")
    add("other", folder="/srv/other")
    before = store.get(database, "p1")

    line = refused(cli("profiles", "set", *flags.split()))

    assert reason in line
    assert "\n" not in line
    assert store.get(database, "p1") == before
    assert latest(database)["event"] == "added"


@pytest.mark.parametrize("command", ["set p1 --region de", "remove p1 --yes"])
def test_a_profile_that_is_held_is_left_alone(cli, database, queue, worker, add, command):
    add("p1", folder="/srv/p1")
    queue.enqueue("visit", {"manifest": {"profile": "p1"}})
    claim = worker.claim()

    line = refused(cli("profiles", *command.split()))

    assert "profile p1 is in use by worker 0 (incarnation 1000); wait until" in line
    queue.complete(claim, "{}")
    lease_endings.release(database, "p1", claim.lease_fence, author="w", reason="done")
    store.check_out(database, "p1", person="ada@desk", seconds=60, reason="")
    line = refused(cli("profiles", *command.split()))
    assert line.endswith("in use by ada@desk; return it first: launcher.py profiles return p1")
    assert (store.get(database, "p1")["region"], latest(database)["event"]) == (None, "leased")
    store.give_back(database, "p1", by="ada")
    assert said(cli("profiles", *command.split()))


def test_what_is_left_running_keeps_its_place_until_it_is_stopped(
    cli, database, queue, worker, add, berlin
):
    add("p1", folder="/srv/p1", proxy="none")
    queue.enqueue("visit", {"manifest": {"profile": "p1"}})
    claim = worker.claim()
    lease_endings.end_unexplained(
        database, "p1", claim.lease_fence, author="sweep", reason="it died"
    )
    assert store.get(database, "p1")["state"] == "stale"

    for command in ("set p1 --folder /srv/p2", "remove p1 --yes"):
        line = refused(cli("profiles", *command.split()))
        assert "profile p1 is stale, and what its last holder left running" in line
    said(cli("profiles", "set", "p1", "--proxy", "berlin"))
    store.set_state(database, "p1", State.QUARANTINED, reason="odd", by="me")
    said(cli("profiles", "set", "p1", "--folder", "/srv/p2"))


def test_an_unstopped_profile_that_is_set_aside_keeps_its_place_too(
    cli, database, queue, worker, add
):
    add("p1", folder="/srv/p1")
    queue.enqueue("visit", {"manifest": {"profile": "p1"}})
    claim = worker.claim()
    leases.note_step(database, "p1", claim.lease_fence, "submitting order", "https://a.example/")
    lease_endings.end_unexplained(
        database, "p1", claim.lease_fence, author="sweep", reason="it died"
    )
    assert store.get(database, "p1")["state"] == "quarantined"

    line = refused(cli("profiles", "set", "p1", "--folder", "/srv/p2"))

    assert "profile p1 is quarantined, and what its last holder left running" in line
    store.set_state(database, "p1", State.AVAILABLE, reason="looked", by="me")
    said(cli("profiles", "set", "p1", "--folder", "/srv/p2"))


def test_a_removed_profile_leaves_its_folder_and_its_history(cli, database, tmp_path):
    said(cli("profiles", "add", "p1", "--account", "a1"))
    folder = tmp_path / "state" / "profiles" / "p1"
    folder.mkdir(parents=True)
    breakers.open_by_hand(database, "profile:p1", None, "by hand", "me")
    store.check_out(database, "p1", person="ada@desk", seconds=60, reason="")
    store.give_back(database, "p1", by="ada")

    told = said(cli("profiles", "remove", "p1", "--yes")).splitlines()

    assert told == [
        f"removed p1; its folder stays: {folder}",
        "its history stays: launcher.py profiles history p1",
    ]
    assert folder.is_dir()
    assert ids(database) == []
    assert breakers.all_breakers(database) == []
    history = said(cli("profiles", "history", "p1")).splitlines()
    assert f"removed: by hand; its folder stays: {folder} ({operator()})" in history[0]
    assert "added" in history[-1]
    assert "there is no profile p1" in refused(cli("profiles", "remove", "p1", "--yes"))
    assert "there is no profile p1" in refused(cli("profiles", "show", "p1"))


def test_a_name_that_is_used_again_does_not_use_fences_again(cli, database, add):
    add("p1", folder="/srv/p1")
    first = store.check_out(database, "p1", person="ada@desk", seconds=60, reason="")
    store.give_back(database, "p1", by="ada")
    said(cli("profiles", "remove", "p1", "--yes"))
    add("p1", folder="/srv/p1")

    assert store.check_out(database, "p1", person="ada@desk", seconds=60, reason="") == first + 1


def test_a_profile_that_pending_jobs_name_is_not_removed(cli, database, queue, add):
    add("p1", folder="/srv/p1")
    job = queue.enqueue("visit", {"manifest": {"profile": "p1"}})
    queue.enqueue("visit", {"manifest": {"profile": "p1"}})

    line = refused(cli("profiles", "remove", "p1", "--yes"))

    assert f"p1 is named by 2 pending jobs (the first: see launcher.py show {job})" in line
    sql = line.partition("List them: ")[2]
    assert [row["id"] for row in database.run_statement(sql)] == [job, job + 1]
    assert "\n" not in line
    assert ids(database) == ["p1"]
    database.run_statement("UPDATE work_queue SET status = 'error'")
    said(cli("profiles", "remove", "p1", "--yes"))


@pytest.mark.parametrize(
    "command", ["set p1 --no-account", "set p1 --account b", "remove p1 --yes"]
)
def test_an_account_keeps_its_only_profile_while_jobs_wait_for_one(
    cli, database, queue, add, command
):
    add("p1", folder="/srv/p1", account_id="a1")
    queue.enqueue("visit", {"manifest": {"account": "a1"}})

    line = refused(cli("profiles", *command.split()))

    assert "because without it 1 pending job" in line
    assert store.get(database, "p1")["account_id"] == "a1"
    add("p2", folder="/srv/p2", account_id="a1")
    said(cli("profiles", *command.split()))


def test_off_a_terminal_a_removal_needs_a_yes(cli, database, add):
    add("p1", folder="/srv/p1")

    line = refused(cli("profiles", "remove", "p1"))

    assert "would remove profile p1; there is no terminal to ask on, so add --yes" in line
    assert ids(database) == ["p1"]


@pytest.mark.parametrize(("answer", "left"), [("n", ["p1"]), ("y", [])])
def test_on_a_terminal_a_removal_is_asked_for(settings, database, tmp_path, add, answer, left):
    add("p1", folder="/srv/p1")
    ours, theirs = pty.openpty()
    command = [sys.executable, "launcher.py", "profiles", "remove", "p1"]
    with subprocess.Popen(
        command, cwd=REPO, env=clean_environment(tmp_path, DATABASE_URL=url_of(settings)),
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        while b"Remove profile p1?" not in shown:
            shown += os.read(ours, 1000)
        os.write(ours, f"{answer}\n".encode())
        wait_until(lambda: process.poll() is not None, "the command ends")
    os.close(ours)

    assert process.returncode == 0
    assert ids(database) == left
