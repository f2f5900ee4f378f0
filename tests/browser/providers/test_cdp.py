"""A browser of somebody else's: where it is, and that nobody listens there."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack

import pytest

from tests.browser.debug_browser import DebugBrowser
from tests.browser.providers.conftest import failure_of
from worker.browser.providers.spec import ProfileSpec
from worker.errors import ProviderError
from worker.proxies.proxy import Proxy

PROXY = Proxy("http", "127.0.0.1", 1, name="berlin")


def test_a_cdp_endpoint_where_nobody_listens_is_unreachable(make_world, session):
    world = make_world("cdp")
    world.spec = dataclasses.replace(world.spec, endpoint="127.0.0.1:1")

    assert failure_of(world, session).kind == "unreachable"


def test_a_cdp_profile_without_an_endpoint_says_what_to_give(make_world, session):
    world = make_world("cdp")
    world.spec = dataclasses.replace(world.spec, endpoint=None)

    assert "http://127.0.0.1:9222" in str(failure_of(world, session))


def test_a_browser_that_plainly_goes_out_otherwise_is_refused(session, tmp_path):
    remote = DebugBrowser(tmp_path / "remote", "--no-proxy-server")
    with ExitStack() as ending:
        ending.callback(remote.stop)
        spec = ProfileSpec("p1", "cdp", endpoint=remote.ws_url, proxy=PROXY)

        with pytest.raises(ProviderError, match="goes out directly, not through proxy berlin") as e:
            session.open_profile(spec)

        assert e.value.kind == "wrong_way_out"
        # It is another's: it runs on, and without a proxy to keep to it is taken as it is.
        session.open_profile(dataclasses.replace(spec, proxy=None))
        session.close_profile()
