"""A stop in every vendor's words, also of sessions that have names of their own."""

from __future__ import annotations

import dataclasses
import threading
import time

import pytest

from tests.browser.vendor_dialect import Reply
from tests.browser.vendor_dialects import DIALECTS
from worker.browser.providers.preset_file import load_preset, preset_names
from worker.errors import ProviderError

WITH_SESSIONS = ["browserbase"]
ASKED = [name for name in preset_names() if load_preset(name).status is not None]


@pytest.mark.parametrize("name", preset_names())
def test_a_profile_that_does_not_run_is_stopped(make_world, name):
    world = make_world(name, bare=True)

    assert world.provider.stop(world.spec) is None
    assert world.provider.left_running(world.spec) is None


@pytest.mark.parametrize("name", preset_names())
def test_a_profile_that_runs_is_stopped_once(make_world, name):
    world = make_world(name, bare=True)
    world.start()

    assert "has stopped its browser" in world.provider.stop(world.spec)
    assert not world.is_running()
    assert world.provider.stop(world.spec) is None


@pytest.mark.parametrize("name", [name for name in ASKED if name not in WITH_SESSIONS])
def test_a_refusal_to_stop_means_nothing_where_nothing_runs(make_world, name):
    world = make_world(name, bare=True)
    world.server.stop_refusal = Reply(500, {"message": "no such thing"})

    assert world.provider.stop(world.spec) is None

    world.server.start_profile("p-1")
    with pytest.raises(ProviderError, match="does not stop"):
        world.provider.stop(world.spec)


@pytest.mark.parametrize("name", ASKED)
def test_a_vendor_is_asked_how_a_profile_stands(make_world, name):
    world = make_world(name, bare=True)
    assert world.provider.standing(world.spec) == "stopped"
    world.start()
    assert world.provider.standing(world.spec) == "running"
    if load_preset(name).status.locked is not None:
        world.server.locked = True
        assert world.provider.standing(world.spec) == "locked"


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_that_is_no_answer_says_nothing_of_how_it_stands(make_world, name):
    world = make_world(name, bare=True)
    world.start()
    world.server.hostile = html

    assert world.provider.standing(world.spec) is None


def test_a_session_is_stopped_by_the_id_that_its_start_gave(make_world):
    world = make_world("browserbase", bare=True)
    kept, forgotten = [], []
    world.spec = dataclasses.replace(
        world.spec, keep_session=kept.append, forget_session=lambda: forgotten.append(kept[-1])
    )
    world.start()
    assert (kept, forgotten) == (["session-1"], [])

    assert world.provider.stop(world.spec)
    assert forgotten == ["session-1"]
    assert world.server.calls == ["start", "stop", "find"]


def test_another_process_stops_a_session_by_the_id_that_was_kept(make_world):
    dead, heir = make_world("browserbase", bare=True), make_world("browserbase", bare=True)
    dead.start()
    heir.spec = dataclasses.replace(heir.spec, endpoint=dead.spec.endpoint, session="session-1")

    assert heir.provider.stop(heir.spec)
    assert not dead.is_running()
    assert "find" not in dead.server.calls


def test_a_session_whose_id_nobody_kept_is_found_by_what_it_was_given(make_world):
    dead, heir = make_world("browserbase", bare=True), make_world("browserbase", bare=True)
    dead.start()
    dead.server._session_of("p-1", {"userMetadata": {"nightshift": "another"}})
    heir.spec = dataclasses.replace(heir.spec, endpoint=dead.spec.endpoint)

    assert heir.provider.stop(heir.spec)
    assert dead.server.sessions["session-1"].name == "stopped"
    # What is somebody else's, in the same context, is left alone.
    assert dead.server.count("stop") == 1


def test_a_session_that_cannot_be_kept_is_stopped_at_once(make_world, session):
    world = make_world("browserbase", bare=True)

    def keep(_: str) -> None:
        raise RuntimeError("no database")

    world.spec = dataclasses.replace(world.spec, keep_session=keep)
    with pytest.raises(RuntimeError, match="no database"):
        world.provider.open(session._engine.playwright, world.spec)

    assert not world.is_running()


def test_a_kill_leaves_it_to_the_close_to_forget_a_session(make_world, open_profile):
    world = make_world("browserbase")
    forgotten = []
    world.spec = dataclasses.replace(world.spec, forget_session=lambda: forgotten.append(1))
    opened = open_profile(world)

    world.provider.kill(opened)
    assert (world.is_running(), forgotten) == (False, [])

    world.provider.close(opened, lambda step: True)
    assert forgotten == [1]


def test_an_answer_without_a_session_is_not_understood_and_found_again(make_world):
    world = make_world("browserbase", bare=True)
    world.server.dialect = dataclasses.replace(
        DIALECTS["browserbase"], started=lambda browser: {"id": "", "connectUrl": browser.ws_url}
    )
    error = world.refusal()

    assert error.kind in ("bad_answer", "refused")
    assert world.provider.stop(world.spec)
    assert not world.is_running()


def test_gologin_is_asked_one_thing_at_a_time(make_world):
    world, other = make_world("gologin", bare=True), make_world("gologin", bare=True)
    other.spec = dataclasses.replace(other.spec, endpoint=world.spec.endpoint, vendor_id="p-2")
    world.server.answer_seconds = 0.2
    threads = [threading.Thread(target=each.start, args=(10.0,)) for each in (world, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (world.server.count("start"), world.server.most_at_once) == (2, 1)


def test_one_that_is_busy_all_the_time_is_not_waited_for_beyond_the_limit(make_world):
    world, other = make_world("gologin", bare=True), make_world("gologin", bare=True)
    other.spec = dataclasses.replace(other.spec, endpoint=world.spec.endpoint)
    world.server.answer_seconds = 2.5
    holder = threading.Thread(target=world.start, args=(10.0,))
    holder.start()
    began = time.monotonic()
    while world.server.at_once == 0:
        assert time.monotonic() - began < 5

    error = other.refusal(seconds=0.3)
    holder.join()

    assert (error.kind, world.server.count("start")) == ("throttled", 1)
    assert "is busy with another request" in str(error)


def test_multilogin_rests_between_a_stop_and_the_next_start(make_world):
    world = make_world("multilogin", bare=True)
    world.provider._api.preset = dataclasses.replace(
        world.provider._api.preset, restart_pause_seconds=0.7
    )
    world.start()
    world.provider.stop(world.spec)
    stopped = time.monotonic()
    assert world.start()

    starts = [
        at
        for verb, at in zip(world.server.calls, world.server.times, strict=True)
        if verb == "start"
    ]
    assert starts[-1] - stopped > 0.4
    assert load_preset("multilogin").restart_pause_seconds == 5


def html(verb: str, request) -> bool:
    """Answer with a page, as a proxy or a portal does that stands in between."""
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.end_headers()
    request.wfile.write(b"<html>please log in</html>")
    return True
