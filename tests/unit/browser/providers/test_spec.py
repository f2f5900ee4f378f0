"""A profile's specification shows no secret."""

from __future__ import annotations

from worker.browser.providers.spec import ProfileSpec


def test_a_profile_shows_neither_its_endpoint_nor_its_options():
    spec = ProfileSpec(1, "cdp", endpoint="ws://h/?token=abc", options={"key": "abc"})

    assert "abc" not in repr(spec) + str(spec)
