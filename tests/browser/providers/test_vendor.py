"""What every vendor's provider does with a profile that runs, a throttle, or no answer."""

from __future__ import annotations

import pytest

from tests.browser.providers.conftest import failure_of
from tests.browser.vendor_dialects import Reply
from worker.browser.providers import vendor
from worker.browser.providers.preset import load_preset
from worker.browser.providers.provider import attempt
from worker.errors import ProviderError


def test_a_profile_that_runs_already_is_started_anew(vendor_world, open_profile, site):
    vendor_world.server.start_profile("p-1")
    page = open_profile(vendor_world).context.new_page()
    page.goto(site.url("/"))

    assert page.title() == "Home"
    assert vendor_world.server.count("start") == 2
    assert vendor_world.server.count("stop") == 1


def test_a_profile_that_cannot_be_stopped_is_already_running(vendor_world, session, monkeypatch):
    monkeypatch.setattr(vendor, "STOPPING_SECONDS", 0.1)
    vendor_world.server.start_profile("p-1")
    vendor_world.server.deaf_stop = True

    assert failure_of(vendor_world, session).kind == "already_running"
    assert vendor_world.server.count("start") == 2


def test_a_profile_that_takes_its_time_to_stop_is_waited_for(make_world, open_profile):
    world = make_world("kameleo")
    world.server.start_profile("p-1")
    world.server.slow_stop_looks = 2

    assert open_profile(world).is_alive
    assert world.server.count("start") == 2
    assert world.server.count("status") == 3


@pytest.mark.parametrize("is_open", [True, False])
def test_a_stop_that_failed_is_remembered_until_one_goes_well(
    vendor_world, session, open_profile, is_open
):
    world = vendor_world
    if is_open:
        opened = open_profile(world)
        world.server.stop_refusal = Reply(500, {"message": "out of order"})
        world.provider.close(opened, attempt)
    else:
        world.server.stop_refusal = Reply(500, {"message": "out of order"})
        world.server.dead_endpoint = True
        failure_of(world, session)

    assert world.is_running()
    assert world.provider.left_running(world.spec)

    world.server.stop_refusal = None
    assert "has stopped its browser" in world.provider.stop(world.spec)
    assert world.provider.left_running(world.spec) is None
    assert world.provider.stop(world.spec) is None


def test_a_stop_that_hangs_counts_as_failed(make_world, open_profile, monkeypatch):
    monkeypatch.setattr(vendor, "STOP_SECONDS", 0.5)
    world = make_world("gologin")
    opened = open_profile(world)
    world.server.hanging_stop = True

    world.provider.close(opened, attempt)

    assert "does not answer" in world.provider.left_running(world.spec)
    world.server.hanging_stop = False


@pytest.mark.parametrize("name", ["kameleo", "multilogin", "adspower"])
def test_a_vendor_that_can_be_asked_is_not_believed_when_it_says_that_it_stopped(
    make_world, monkeypatch, name
):
    monkeypatch.setattr(vendor, "STOPPING_SECONDS", 0.1)
    world = make_world(name)
    world.server.start_profile("p-1")
    world.server.deaf_stop = True
    assert world.provider.is_running(world.spec)

    with pytest.raises(ProviderError, match="runs on after it was stopped"):
        world.provider.stop(world.spec)

    assert world.provider.left_running(world.spec)
    world.server.deaf_stop = False
    assert world.provider.stop(world.spec)
    assert not world.provider.is_running(world.spec)


def test_a_throttled_start_is_tried_again(vendor_world, open_profile):
    vendor_world.server.throttle = vendor.THROTTLE_TRIES - 1
    assert open_profile(vendor_world).is_alive


def test_too_much_throttling_is_said_so(vendor_world, session):
    vendor_world.server.throttle = 1000
    error = failure_of(vendor_world, session)

    assert error.kind == "throttled"
    assert error.retry_after
    assert vendor_world.server.count("start") == vendor.THROTTLE_TRIES
    assert vendor_world.server.count("stop") == 0


def test_a_vendor_that_does_not_answer_is_unreachable(vendor_world, session):
    vendor_world.server.close()
    error = failure_of(vendor_world, session)

    assert error.kind == "unreachable"
    if vendor_world.name != "multilogin":
        assert load_preset(vendor_world.name).url_variable in str(error)


def test_a_dead_endpoint_is_unreachable_and_the_profile_stopped(vendor_world, session):
    vendor_world.server.dead_endpoint = True

    assert failure_of(vendor_world, session).kind == "unreachable"
    assert vendor_world.server.count("stop") == 1
    assert not vendor_world.is_running()


def test_an_answer_that_is_not_understood_leaves_the_profile_stopped(vendor_world, session):
    vendor_world.server.nonsense = True

    assert failure_of(vendor_world, session).kind == "bad_answer"
    assert not vendor_world.is_running()
