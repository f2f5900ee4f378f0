"""A browser of somebody else's: where it is, and that nobody listens there."""

from __future__ import annotations

import dataclasses

from tests.browser.providers.conftest import failure_of


def test_a_cdp_endpoint_where_nobody_listens_is_unreachable(make_world, session):
    world = make_world("cdp")
    world.spec = dataclasses.replace(world.spec, endpoint="127.0.0.1:1")

    assert failure_of(world, session).kind == "unreachable"


def test_a_cdp_profile_without_an_endpoint_says_what_to_give(make_world, session):
    world = make_world("cdp")
    world.spec = dataclasses.replace(world.spec, endpoint=None)

    assert "http://127.0.0.1:9222" in str(failure_of(world, session))
