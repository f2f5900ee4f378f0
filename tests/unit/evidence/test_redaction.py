"""No secret that has a name gets into evidence, and no character that a terminal obeys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.evidence.redaction import (
    is_secret_name,
    redact_headers,
    redact_json,
    redact_text,
    redact_url,
    strip_controls,
)


@pytest.mark.parametrize(
    "name",
    ["password", "userPassword", "access_token", "api_key", "apikey", "X-Amz-Signature", "sig",
     "client-secret", "Authorization", "auth", "key", "sessionid", "Set-Cookie"],
)  # fmt: skip
def test_names_of_secrets_are_known(name: str):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["url", "author", "monkey", "page", "q", "design", "assignee", "passenger", "pinned"]
)
def test_harmless_names_are_left_alone(name: str):
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("url", "redacted"),
    [
        ("http://me:pw@h.test/a?b=1", "http://[redacted]@h.test/a?b=1"),
        ("http://h.test/?token=abc&b=1", "http://h.test/?token=[redacted]&b=1"),
        ("http://h.test/#access_token=abc", "http://h.test/#access_token=[redacted]"),
        ("http://h.test/?api%5Fkey=abc", "http://h.test/?api%5Fkey=[redacted]"),
        ("http://h.test/a@b?q=x@y", "http://h.test/a@b?q=x@y"),
        ("about:blank", "about:blank"),
    ],
)
def test_urls_lose_their_secrets_only(url: str, redacted: str):
    assert redact_url(url) == redacted


def test_urls_in_a_text_are_redacted():
    text = redact_text("goto: net::ERR_FAILED at http://me:pw@h.test/?sig=12\nBearer abcdefgh123")

    assert text == (
        "goto: net::ERR_FAILED at http://[redacted]@h.test/?sig=[redacted]\nBearer [redacted]"
    )


def test_headers_that_carry_a_login_are_masked():
    headers = redact_headers({"Cookie": "a=1", "set-cookie": "b", "cf-ray": "8c0"})

    assert headers == {"Cookie": "[redacted]", "set-cookie": "[redacted]", "cf-ray": "8c0"}


def test_payloads_are_redacted_at_any_depth():
    payload = {"url": "http://a:b@h.test/", "login": [{"user": "me", "password": "x"}], "n": 1}

    assert redact_json(payload) == {
        "url": "http://[redacted]@h.test/",
        "login": [{"user": "me", "password": "[redacted]"}],
        "n": 1,
    }


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str):
    clean = strip_controls(text)

    assert all(char in "\n\t" or char.isprintable() or ord(char) >= 0xA0 for char in clean)
