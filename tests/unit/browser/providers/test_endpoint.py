"""Endpoints in every spelling."""

from __future__ import annotations

import pytest

from worker.browser.providers.endpoint import label, normalise, secrets_in


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("55513", "http://127.0.0.1:55513"),
        (9222, "http://127.0.0.1:9222"),
        ("localhost:9222", "http://localhost:9222"),
        ("[::1]:9222", "http://[::1]:9222"),
        ("ws://h:1/devtools/browser/x?token=a", "ws://h:1/devtools/browser/x?token=a"),
        ("https://h/", "https://h/"),
        *[(text, None) for text in ("", "0", "99999", "h", "ftp://h:1", "ws://", "a b:1")],
    ],
)
def test_an_endpoint_is_understood_in_every_usual_spelling(endpoint, expected):
    assert normalise(endpoint) == expected


@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [
        ("9222", "http://127.0.0.1:9222"),
        ("http://127.0.0.1:9222/", "http://127.0.0.1:9222"),
        ("ws://u:pw@h.example:1/devtools/browser/T0KEN?token=x", "ws://h.example:1/…"),
        ("wss://[::1]:4/?k=v", "wss://[::1]:4/…"),
        ("ws://h.example:99999/x", "(unreadable)"),
        ("no address", "(unreadable)"),
    ],
)
def test_an_endpoint_is_named_by_scheme_host_and_port(endpoint, shown):
    assert label(endpoint) == shown


def test_all_that_may_be_secret_in_an_endpoint_and_no_plain_word():
    found = set(secrets_in("ws://user:pw%21@h:1/devtools/browser/T0KEN%2Fx?token=abcdefgh&n=1"))

    assert {"T0KEN%2Fx", "T0KEN/x", "abcdefgh", "devtools/browser/T0KEN%2Fx"} <= found
    assert {"user", "pw%21", "token=abcdefgh&n=1"} <= found
    assert not found & {"devtools", "browser", "1"}
    assert set(secrets_in("http://127.0.0.1:9222")) == set()
