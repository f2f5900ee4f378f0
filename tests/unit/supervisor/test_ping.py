"""Where a ping goes, in Healthchecks' form."""

from __future__ import annotations

import pytest

from worker.supervisor.ping import address


@pytest.mark.parametrize(
    ("url", "suffix", "wanted"),
    [
        ("https://hc.example/uuid", "/start", "https://hc.example/uuid/start?rid=r"),
        ("https://hc.example/uuid/", "", "https://hc.example/uuid?rid=r"),
        (
            "https://hc.example/key/slug?create=1",
            "/69",
            "https://hc.example/key/slug/69?create=1&rid=r",
        ),
    ],
)
def test_suffix_and_rid_are_put_in_their_places(url, suffix, wanted):
    assert address(url, suffix, "r") == wanted
