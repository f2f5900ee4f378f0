"""A local profile is held by one browser."""

from __future__ import annotations

from tests.browser.providers.conftest import failure_of


def test_a_local_profile_in_use_is_never_opened_twice(make_world, open_profile, session):
    world = make_world("local")
    opened = open_profile(world)
    error = failure_of(world, session)

    assert error.kind == "already_running"
    assert f"process {opened.process.pid} " in str(error)
    assert opened.is_alive
