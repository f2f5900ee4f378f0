"""`launcher.py profiles`: added, imported, listed, checked out and set aside by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.integration.profile_cli import SECRET, ids, refused, said
from worker.profiles import leases, store
from worker.profiles.states import State
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


def test_a_local_profile_gets_a_folder_of_its_own(cli, database, tmp_path):
    folder = tmp_path / "state" / "profiles" / "p1"

    told = said(cli("profiles", "add", "p1", "--account", "a1")).splitlines()
    assert told[0] == f"added p1 (local: {folder}); it is available"

    row = store.get(database, "p1")
    assert (row["folder"], row["account_id"], row["state"]) == (str(folder), "a1", "available")
    assert [row["id"] for row in database.fetch_all("list_accounts")] == ["a1"]


def test_every_field_is_kept_and_shown(cli, database):
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:1"), name="berlin", region="de"))
    flags = "--provider multilogin --vendor-id v7 --proxy berlin --region de --max-active-runs 3"
    more = "--release-policy review --allow visit --allow price --option folder_id=f9 --account a1"

    said(cli("profiles", "add", "p1", *flags.split(), *more.split()))

    shown = said(cli("profiles", "show", "p1"))
    for text in ("multilogin", "v7", "berlin", "de", "3 at once", "review", "visit, price", "f9"):
        assert text in shown
    assert "added" in shown.split("latest events")[1]
    told = json.loads(said(cli("profiles", "show", "p1", "--json")))
    assert told["profile"]["allowed_actions"] == ["visit", "price"]
    assert told["profile"]["options"] == {"folder_id": "f9"}
    assert told["leases"] == []
    assert told["events"][0]["event"] == "added"


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ("p1 --provider chrome", "there is no provider 'chrome'; choose from local, cdp, adspower"),
        ("p1 --proxy nowhere", "there is no proxy named 'nowhere'"),
        ("p1 --release-policy panic", "release_policy must be one of check, review, quarantine"),
        ("p1 --max-active-runs 0", "max_active_runs must be a number from 1"),
        ("p1 --max-active-runs 2", "only one browser can use"),
        ("p1 --vendor-id 7", "a local profile has no vendor_id"),
        ("p1 --provider kameleo", "needs a vendor_id"),
        ("p1 --provider kameleo --vendor-id 7 --folder x", "a kameleo profile has no folder"),
        ("p1 --provider cdp --endpoint nonsense", "the endpoint is not an address"),
        ("p1 --option folder_id", "write KEY=VALUE"),
        ("../p1", "a profile's id may hold only letters"),
        ("p1 --account a/1", "an account may hold only letters"),
        ("taken", "there is a profile taken already"),
        ("p1 --folder /srv/taken", "profile taken already uses that browser"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_adds_nothing(cli, database, add, flags, reason):
    add("taken", folder="/srv/taken")

    line = refused(cli("profiles", "add", *flags.split()))

    assert reason in line
    assert "\n" not in line
    assert ids(database) == ["taken"]


def test_an_endpoints_login_is_never_on_the_command_line_nor_in_any_answer(cli, database):
    line = refused(cli("profiles", "add", "p1", "--provider", "cdp", "--endpoint", SECRET))
    assert "everybody on this machine can see" in line
    secret = refused(cli("profiles", "add", "p1", "--option", "password=hunter2"))
    answers = [line, secret]
    assert "no endpoint on stdin" in refused(cli("profiles", "add", "p1", "--provider", "cdp"))

    arguments = ("profiles", "add", "p1", "--provider", "cdp", "--endpoint", "-")
    answers.append(said(cli(*arguments, stdin=f"{SECRET}\n")))

    assert store.get(database, "p1")["endpoint"] == SECRET
    assert "ws://127.0.0.1:9222/…" in said(cli("profiles", "show", "p1"))
    commands = ("show p1", "show p1 --json", "list", "list --json", "history p1")
    answers += [said(cli("profiles", *command.split())) for command in commands]
    answers.append(said(cli("profiles", "checkout", "p1", "--json")))
    for answer in answers:
        for word in ("hunter2", "t0k3n", "s3cr3tpath"):
            assert word not in answer
    said(cli("profiles", "return", "p1"))
    assert SECRET in said(cli("profiles", "checkout", "p1", "--reveal"))


def test_profiles_are_listed_by_state_and_account(cli, database, add):
    assert said(cli("profiles", "list")).startswith("no profiles; add one")
    add("p1", account_id="a1")
    add("p2", account_id="a2")
    store.set_state(database, "p2", State.QUARANTINED, reason="strange \x1b[31m", by="me")

    header, first, second = said(cli("profiles", "list")).splitlines()
    assert header.split()[:4] == ["ID", "ACCOUNT", "PROVIDER", "STATE"]
    assert first.split()[:4] == ["p1", "a1", "local", "available"]
    assert second.split()[3] == "quarantined"
    assert second.endswith("strange ?[31m")
    only = json.loads(said(cli("profiles", "list", "--state", "quarantined", "--json")))
    assert [row["id"] for row in only] == ["p2"]
    only = json.loads(said(cli("profiles", "list", "--account", "a1", "--json")))
    assert [row["id"] for row in only] == ["p1"]


def test_profiles_are_imported_from_csv_and_jsonl(cli, database, tmp_path):
    table = tmp_path / "profiles.csv"
    table.write_text(
        "\ufeffid,account,provider,vendor_id,max_active_runs,allow,options\n"
        'p1,a1,multilogin,v1,2,visit price,"{""folder_id"": ""f""}"\n'
        "p2,a1,,,,,\n"
    )
    lines = '{"id": "p3", "provider": "cdp", "endpoint": "http://u:p@127.0.0.1:1"}\n'

    assert said(cli("profiles", "import", table)).startswith("added 2 profiles;")
    assert said(cli("profiles", "import", "-", stdin=lines)).startswith("added 1 profile;")

    first = store.get(database, "p1")
    assert json.loads(first["allowed_actions"]) == ["visit", "price"]
    assert (json.loads(first["options"]), first["max_active_runs"]) == ({"folder_id": "f"}, 2)
    assert store.get(database, "p2")["folder"] == str(tmp_path / "state" / "profiles" / "p2")
    assert store.get(database, "p3")["endpoint"] == "http://u:p@127.0.0.1:1"


def test_one_bad_line_and_nothing_is_imported(cli, database, add, tmp_path):
    add("taken")
    table = tmp_path / "profiles.jsonl"
    table.write_text(
        '{"id": "good"}\n'
        '{"id": "good"}\n'
        '{"id": "taken"}\n'
        '{"id": "p4", "colour": "red"}\n'
        '{"id": "p5", "provider": "cdp", "endpoint": "hunter2 hunter2"}\n'
        "{]\n"
        '{"id": "p7", "allow": 7}\n'
    )

    told = refused(cli("profiles", "import", table))

    assert "line 1:" not in told
    assert "line 2: there is a profile good already" in told
    assert "line 3: there is a profile taken already" in told
    assert "line 4: unknown field 'colour'" in told
    assert "line 5: the endpoint is not an address" in told
    assert "line 6: not JSON" in told
    assert "line 7: allow must be a list of task names" in told
    assert "6 bad lines; nothing was imported" in told
    assert "hunter2" not in told
    assert ids(database) == ["taken"]


@pytest.mark.parametrize("stdin", ["", "id,account\n", b"\xff\xfe\x00"])
def test_a_file_without_a_profile_is_said_so(cli, stdin):
    assert refused(cli("profiles", "import", "-", stdin=stdin))


def test_a_file_that_is_not_there_is_named(cli):
    assert "/nowhere.csv cannot be read" in refused(cli("profiles", "import", "/nowhere.csv"))


def test_a_person_checks_a_profile_out_and_returns_it(cli, database, worker, queue, add):
    add("p1", folder="/srv/p1")
    queue.enqueue("visit", {"manifest": {"profile": "p1"}})

    told = said(cli("profiles", "checkout", "p1", "--for", "2h", "--reason", "new password"))

    assert "profile p1 is yours until " in told
    assert "(fence 1)" in told
    assert "folder    /srv/p1" in told
    assert "launcher.py profiles return p1" in told
    lease = database.fetch_all("leases_of_profile", profile_id="p1")[0]
    assert float(lease["left_seconds"]) == pytest.approx(7200, abs=30)
    assert lease["is_person"]
    assert worker.claim() is None
    shown = said(cli("profiles", "show", "p1"))
    assert "(new password), fence 1; the lease ends in 1 h 59 m" in shown
    assert "profile p1 is in use" in refused(cli("profiles", "checkout", "p1"))
    assert said(cli("profiles", "return", "p1")) == "returned p1; it is available"
    assert "is not checked out by anybody" in refused(cli("profiles", "return", "p1"))
    assert worker.claim_now() is not None


def test_a_checkout_as_json_and_a_return_for_review(cli, database, add):
    add("p1", provider="kameleo", vendor_id="v1")
    told = json.loads(said(cli("profiles", "checkout", "p1", "--json")))
    assert (told["fence"], told["vendor_id"]) == (1, "v1")
    assert told["until"].endswith("Z")

    said_back = said(cli("profiles", "return", "p1", "--review", "odd mail"))

    assert said_back == "returned p1; it is review_required"
    assert store.get(database, "p1")["state_reason"] == "odd mail"
    looking = said(cli("profiles", "checkout", "p1"))
    assert "it stays review_required" in looking


@pytest.mark.parametrize("how_long", ["0", "31d", "soon"])
def test_a_checkout_has_a_sensible_time(cli, add, how_long):
    add("p1")
    assert "--for" in refused(cli("profiles", "checkout", "p1", "--for", how_long))


def test_a_profile_is_set_aside_and_cleared_with_a_reason(cli, add):
    add("p1")
    told = said(cli("profiles", "quarantine", "p1", "--reason", "captcha loop"))
    assert told == "profile p1 was available, is quarantined"
    assert said(cli("profiles", "disable", "p1", "--reason", "sold")).endswith("is disabled")
    assert "cannot become quarantined" in refused(
        cli("profiles", "quarantine", "p1", "--reason", "x")
    )
    cleared = said(cli("profiles", "clear", "p1", "--reason", "bought")).splitlines()
    assert cleared == ["profile p1 was disabled, is available", "no pending job waits for it"]
    assert "--reason" in refused(cli("profiles", "clear", "p1"))

    latest, *_, first = said(cli("profiles", "history", "p1")).splitlines()
    assert "cleared disabled → available: bought (" in latest
    assert "added – → available" in first
    two = json.loads(said(cli("profiles", "history", "p1", "--limit", "2", "--json")))
    assert [row["event"] for row in two] == ["cleared", "set_disabled"]
    assert two[0]["author"]


def test_clearing_a_profile_that_is_held_waits_for_its_holder(cli, database, worker, queue, add):
    add("p1")
    queue.enqueue("visit", {"manifest": {"profile": "p1"}})
    claim = worker.claim()
    leases.note_step(database, "p1", claim.lease_fence, "logged in", "https://shop.example/")
    store.set_state(database, "p1", State.QUARANTINED, reason="strange", by="me")

    told = said(cli("profiles", "clear", "p1", "--reason", "looked"))

    assert told.splitlines()[0] == "profile p1 was quarantined, is leased; its holder may finish"
    shown = said(cli("profiles", "show", "p1"))
    assert f"fence 1, job {claim.job_id}, last step 'logged in'; the lease ends in" in shown


@pytest.mark.parametrize(
    "command",
    ["show", "checkout", "return", "history", "quarantine --reason x", "clear --reason x"],
)
def test_an_unknown_profile_is_named(cli, command):
    name, *flags = command.split()
    line = refused(cli("profiles", name, "p9", *flags))
    assert line == "nightshift: there is no profile p9; see: launcher.py profiles list"
