"""Where a ping goes, in Healthchecks' form."""

from __future__ import annotations

import pytest

from worker.supervisor import ping
from worker.supervisor.ping import Ping, address


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


def test_what_a_stranger_wrote_is_shown_and_never_obeyed_where_the_ping_is_read(monkeypatch):
    told = []
    monkeypatch.setattr(ping, "_post", lambda url, body: told.append(body) or 0)
    monkeypatch.setattr(ping, "fork", lambda call: call())
    monkeypatch.setattr(ping, "_wait", lambda pid: None)

    Ping("https://hc.example/uuid").end(10, "failed: \u202egnp.exe \x1b[31m\nand more")

    assert told == ["failed: ?gnp.exe ?[31m\nand more"]
