"""Endpoints in every spelling."""

from __future__ import annotations

import pytest

from worker.browser.providers.endpoint import label, normalise, placed, secrets_in


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


@pytest.mark.parametrize(
    ("answered", "api", "expected"),
    [
        (55513, "http://127.0.0.1:1", "http://127.0.0.1:55513"),
        ("55513", "http://192.0.2.7:25325", "http://192.0.2.7:55513"),
        ("ws://127.0.0.1:4/devtools/x", "http://localhost:1", "ws://127.0.0.1:4/devtools/x"),
        ("ws://127.0.0.1:4/devtools/x", "http://192.0.2.7:1", "ws://192.0.2.7:4/devtools/x"),
        ("ws://localhost:4/x", "http://[2001:db8::7]:1", "ws://[2001:db8::7]:4/x"),
        ("0.0.0.0:4", "http://192.0.2.7:1", "http://192.0.2.7:4"),
        ("ws://192.0.2.7:4/x", "http://192.0.2.7:1", "ws://192.0.2.7:4/x"),
        ("wss://connect.cloud.example/?k=1", "https://api.cloud.example", None),
    ],
)
def test_a_port_in_an_answer_belongs_to_the_host_of_the_api(answered, api, expected):
    if expected is None:
        assert placed(answered, api, ("*.cloud.example",)) == answered
        assert placed(answered, api, ("connect.cloud.example",)) == answered
        with pytest.raises(ValueError, match="another host"):
            placed(answered, api, ("*.other.example", "cloud.example"))
    else:
        assert placed(answered, api) == expected


def test_a_name_is_looked_up_because_a_browser_answers_to_no_name(monkeypatch):
    found = [(2, 1, 6, "", ("192.0.2.9", 0))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found)

    assert placed(4711, "https://launcher.example:45001") == "http://192.0.2.9:4711"


def test_a_name_that_leads_here_is_here(monkeypatch):
    found = [(2, 1, 6, "", ("127.0.0.1", 0))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found)

    assert placed(4711, "https://launcher.example:45001") == "http://127.0.0.1:4711"


@pytest.mark.parametrize("answered", ["ws://127.0.0.1:0/x", "", "nothing", "ws://h:99999/"])
def test_what_is_no_place_is_refused(answered):
    with pytest.raises(ValueError, match=r"no address|port 0"):
        placed(answered, "http://127.0.0.1:1")
