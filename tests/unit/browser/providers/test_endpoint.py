"""Endpoints in every spelling."""

from __future__ import annotations

import pytest

from worker.browser.providers.endpoint import normalise


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
