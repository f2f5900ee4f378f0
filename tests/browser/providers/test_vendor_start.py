"""Every word of every vendor on a start: waited for, left alone, adopted, or refused."""

from __future__ import annotations

import dataclasses
import re
import threading
import time

import pytest

from tests.browser.vendor_dialect import Reply
from tests.browser.vendor_dialects import DIALECTS
from tests.browser.vendor_server import TOKEN
from worker.browser.providers import vendor_start, vendor_stop
from worker.browser.providers.preset import IfRunning
from worker.browser.providers.preset_file import load_preset, preset_names

# A start of what runs is adopted by these vendors themselves.
ADOPTING = ["adspower", "bitbrowser"]
# Whoever connects to a profile of theirs starts it, or joins what runs.
JOINED = ["gologin_cloud"]
# Each start of these is a session of its own.
WITH_SESSIONS = ["browserbase"]
TELLING = [name for name in preset_names() if name not in (*ADOPTING, *JOINED, *WITH_SESSIONS)]
LOCKING = [name for name in preset_names() if DIALECTS[name].locked is not None]
PREPARING = [name for name in preset_names() if DIALECTS[name].preparing is not None]


def test_there_is_a_dialect_for_every_preset():
    assert sorted(DIALECTS) == preset_names()
    assert [name for name in preset_names() if load_preset(name).start_adopts] == [
        *ADOPTING,
        *JOINED,
    ]


@pytest.mark.parametrize("name", TELLING)
def test_a_running_profile_is_stopped_and_started_anew(make_world, name):
    world = make_world(name, bare=True)
    world.server.start_profile("p-1")

    assert world.start()
    assert (world.server.count("start"), world.server.count("stop")) == (2, 1)


@pytest.mark.parametrize("name", TELLING)
def test_one_that_does_not_stop_is_already_running(make_world, name, monkeypatch):
    monkeypatch.setattr(vendor_stop, "STOPPING_SECONDS", 0.1)
    world = make_world(name, bare=True)
    world.server.start_profile("p-1")
    world.server.deaf_stop = True

    assert world.refusal().kind == "already_running"
    assert world.server.count("start") == 2


def test_gologins_cloud_is_connected_to_with_token_and_profile_where_its_browsers_are(make_world):
    world = make_world("gologin_cloud", bare=True)

    assert world.start() == f"ws://127.0.0.1:{world.server.port}/connect?token={TOKEN}&profile=p-1"
    assert world.server.calls == ["start"]
    assert world.server.authorizations == [f"Bearer {TOKEN}"]


@pytest.mark.parametrize("name", ADOPTING)
def test_a_start_that_gives_what_runs_adopts_it(make_world, name):
    world = make_world(name, bare=True)
    running = world.server.start_profile("p-1")

    assert world.start() == running.ws_url
    assert world.server.calls == ["start"]


@pytest.mark.parametrize("name", ADOPTING)
def test_such_a_vendor_is_asked_first_by_a_profile_that_wants_a_fresh_browser(make_world, name):
    world = make_world(name, bare=True, if_running="restart")
    world.server.start_profile("p-1")

    assert world.start()
    assert world.server.calls[:2] == ["status", "stop"]
    assert world.server.calls[-1] == "start"


@pytest.mark.parametrize("name", ADOPTING + TELLING)
def test_a_profile_that_refuses_what_runs_leaves_it_alone(make_world, name):
    world = make_world(name, bare=True, if_running="refuse")
    if load_preset(name).status is None and name in ADOPTING:
        pytest.skip("it cannot be asked")
    world.server.start_profile("p-1")
    error = world.refusal()

    assert error.kind == "already_running"
    assert "if_running is refuse" in str(error)
    assert world.server.count("stop") == 0
    assert world.is_running()
    assert not world.provider._starts.may_run(error)


@pytest.mark.parametrize("name", TELLING)
def test_a_running_profile_is_adopted_where_the_vendor_says_where_it_listens(make_world, name):
    world = make_world(name, bare=True, if_running="adopt")
    world.server.start_profile("p-1")
    knows_where = name in ("kameleo", "octo", "undetectable", "morelogin")
    if knows_where:
        assert "9222" in (endpoint := world.start()) or endpoint.endswith("/playwright/p-1")
    else:
        assert "not where it listens" in str(world.refusal())
    assert world.server.count("stop") == 0
    assert world.is_running()


def test_an_unknown_policy_is_refused_before_anything_is_asked(make_world):
    world = make_world("gologin", bare=True, if_running="maybe")
    error = world.refusal()

    assert ", ".join(IfRunning) in str(error)
    assert world.server.calls == []


@pytest.mark.parametrize("name", LOCKING)
def test_a_profile_that_is_open_elsewhere_is_never_stopped(make_world, name):
    world = make_world(name, bare=True)
    world.server.locked = True
    error = world.refusal()

    assert error.kind == "locked"
    assert "is open elsewhere" in str(error)
    assert world.server.count("stop") == 0
    assert not world.provider._starts.may_run(error)
    # Nor by whoever checks it after a worker's death.
    assert world.provider.stop(world.spec) is None


@pytest.mark.parametrize("name", PREPARING)
def test_a_download_is_waited_for(make_world, name):
    world = make_world(name, bare=True)
    world.server.preparing = 3

    assert world.start()
    assert world.server.count("start") == 4


@pytest.mark.parametrize("name", PREPARING)
def test_a_download_that_outlasts_the_limit_is_said_so(make_world, name):
    world = make_world(name, bare=True)
    world.server.preparing = 10_000
    began = time.monotonic()
    error = world.refusal(seconds=0.5)

    assert error.kind == "preparing"
    assert "ing" in str(error).partition("ready: ")[2]
    assert time.monotonic() - began < 3
    assert world.server.count("stop") == 0


@pytest.mark.parametrize("name", preset_names())
def test_throttling_is_bounded_and_says_when_to_come_back(make_world, name, monkeypatch):
    world = make_world(name, bare=True)
    world.server.throttle = 1000
    error = world.refusal()

    assert (error.kind, world.server.count("start")) == ("throttled", vendor_stop.THROTTLE_TRIES)
    assert error.retry_after
    assert world.server.count("stop") == 0


def test_what_a_throttling_vendor_wants_holds_for_all_workers(make_world):
    world = make_world("gologin", bare=True)
    world.server.throttle, world.server.retry_after = 1, 0.6
    assert world.start()
    began, other = world.server.times[0], make_world("gologin", bare=True)
    other.server.close()
    other = dataclasses.replace(other, server=world.server, spec=world.spec)
    world.server.throttle, world.server.retry_after = 1000, 60.0
    with pytest.raises(Exception, match="throttles"):
        world.start(seconds=1.0)
    calls = len(world.server.calls)

    error = other.refusal(seconds=1.0)

    assert world.server.times[1] - began >= 0.6
    assert error.kind == "throttled"
    assert re.search(r"is not to be asked for (59|60) s more", str(error))
    assert len(world.server.calls) == calls


@pytest.mark.parametrize("name", ADOPTING)
def test_a_start_that_does_not_know_its_endpoint_yet_is_asked_again(make_world, name):
    world = make_world(name, bare=True)
    world.server.unready = 1

    assert world.start() == world.server.running["p-1"].ws_url
    assert world.server.count("stop") == 0


@pytest.mark.parametrize("name", ADOPTING)
def test_one_that_never_knows_it_is_stopped(make_world, name):
    world = make_world(name, bare=True)
    world.server.unready = 1000
    world.server.hostile = lambda verb, request: verb == "status"
    error = world.refusal()

    assert error.kind in ("bad_answer", "unreachable")
    assert world.provider._starts.may_run(error)


@pytest.mark.parametrize(
    ("name", "reply", "told"),
    [
        ("kameleo", Reply(402, {"title": "Payment", "detail": "Your plan ended."}), "plan ended"),
        ("kameleo", Reply(500, {"errorCode": "KernelMissing"}), "KernelMissing"),
        ("adspower", Reply(200, {"code": -1, "msg": "Exceeding open daily limit"}), "daily limit"),
        ("dolphin", Reply(402, {"success": False, "error": "free plan"}), "free plan"),
        ("multilogin", Reply(400, {"status": {"message": "no such folder"}}), "no such folder"),
        ("morelogin", Reply(200, {"code": 101, "msg": "Profile not found"}), "not found"),
        ("octo", Reply(400, {"msg": "No subscription", "code": 7}), "No subscription"),
        ("nstbrowser", Reply(200, {"err": True, "msg": "profile is gone"}), "profile is gone"),
        ("bitbrowser", Reply(200, {"success": False, "msg": "expired"}), "expired"),
        ("browserbase", Reply(402, {"message": "limit of the plan"}), "limit of the plan"),
        ("undetectable", Reply(200, {"code": 1, "data": {"error": "no kernel"}}), "no kernel"),
        ("gologin", Reply(500, {"message": "not logged in"}), "not logged in"),
    ],
)
def test_a_refusal_is_quoted_in_one_line_and_starts_nothing(make_world, name, reply, told):
    world = make_world(name, bare=True)
    world.server.refusal = reply
    error = world.refusal()

    assert error.kind == "refused"
    assert told in str(error)
    assert not world.provider._starts.may_run(error)


def test_somebody_who_gives_up_ends_the_wait(make_world, monkeypatch):
    monkeypatch.setattr(vendor_start, "PREPARING_PAUSE_SECONDS", 30.0)
    world = make_world("multilogin", bare=True)
    world.server.preparing = 10
    began = time.monotonic()
    threading.Timer(0.3, world.provider.give_up).start()

    assert world.refusal(seconds=60).kind in ("preparing", "unreachable")
    assert time.monotonic() - began < 10


def test_somebody_who_gives_up_ends_a_request_that_hangs(make_world):
    world = make_world("gologin", bare=True)
    world.server.answer_seconds = 60
    began = time.monotonic()
    threading.Timer(0.5, world.provider.give_up).start()

    assert world.refusal(seconds=60).kind == "unreachable"
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("adspower", {"profile_id": "p-1", "proxy_detection": "0", "last_opened_tabs": "0"}),
        ("kameleo", {}),
        ("octo", {"uuid": "p-1", "debug_port": True}),
        ("dolphin", {"automation": True}),
    ],
)
def test_a_start_sends_what_the_vendor_wants(make_world, name, sent):
    world, headless = make_world(name, bare=True), make_world(name, bare=True, headless="1")
    world.start()
    headless.start()

    assert world.server.bodies[-1] == sent
    assert set(headless.server.bodies[-1].items() - sent.items()) if name != "kameleo" else True
    assert headless.server.bodies[-1] != sent
