"""What every vendor's provider does with a profile that runs, a throttle, or no answer."""

from __future__ import annotations

import pytest

from tests.browser.providers.conftest import failure_of
from tests.browser.vendor_dialects import Reply
from worker.browser.providers import vendor, vendor_stop
from worker.browser.providers.preset_file import load_preset
from worker.browser.providers.provider import attempt
from worker.errors import ProviderError


def test_a_profile_that_runs_already_is_started_anew(make_world, open_profile, site):
    world = make_world("gologin")
    world.server.start_profile("p-1")
    page = open_profile(world).context.new_page()
    page.goto(site.url("/"))

    assert page.title() == "Home"
    assert (world.server.count("start"), world.server.count("stop")) == (2, 1)


def test_a_profile_that_takes_its_time_to_stop_is_waited_for(make_world, open_profile):
    world = make_world("kameleo")
    world.server.start_profile("p-1")
    world.server.slow_stop_looks = 2

    assert open_profile(world).is_alive
    assert world.server.count("start") == 2
    # Once whether it is open elsewhere, then until it is stopped.
    assert world.server.count("status") == 4


@pytest.mark.parametrize("name", ["gologin", "browserbase"])
def test_a_stop_that_failed_when_it_was_closed_is_remembered(make_world, open_profile, name):
    world = make_world(name)
    opened = open_profile(world)
    world.server.stop_refusal = Reply(500, {"message": "out of order"})
    world.provider.close(opened, attempt)

    assert world.is_running()
    assert world.provider.left_running(world.spec)


def test_a_stop_that_failed_is_remembered_until_one_goes_well(vendor_world, session):
    world = vendor_world
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
    monkeypatch.setattr(vendor_stop, "STOPPING_SECONDS", 0.1)
    world = make_world(name)
    world.server.start_profile("p-1")
    world.server.deaf_stop = True
    assert world.provider.standing(world.spec) == "running"

    with pytest.raises(ProviderError, match="runs on after it was stopped"):
        world.provider.stop(world.spec)

    assert world.provider.left_running(world.spec)
    world.server.deaf_stop = False
    assert world.provider.stop(world.spec)
    assert world.provider.standing(world.spec) == "stopped"


def test_a_throttled_start_is_tried_again(make_world, open_profile):
    world = make_world("multilogin")
    world.server.throttle = vendor_stop.THROTTLE_TRIES - 1
    assert open_profile(world).is_alive


def test_too_much_throttling_leaves_nothing_to_stop(vendor_world, session):
    vendor_world.server.throttle = 1000

    assert failure_of(vendor_world, session).kind == "throttled"
    assert vendor_world.server.count("stop") == 0


@pytest.mark.parametrize("name", ["multilogin", "adspower"])
def test_a_profile_that_is_open_elsewhere_is_left_alone(make_world, session, name):
    world = make_world(name, bare=True)
    world.server.locked = True

    assert failure_of(world, session).kind == "locked"
    assert world.server.count("stop") == 0
    assert world.provider.left_running(world.spec) is None


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
