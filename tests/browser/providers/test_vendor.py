"""What every vendor's provider does with a profile that runs, a throttle, or no answer."""

from __future__ import annotations

from tests.browser.providers.conftest import failure_of
from worker.browser.providers import vendor
from worker.browser.providers.preset import load_preset


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
