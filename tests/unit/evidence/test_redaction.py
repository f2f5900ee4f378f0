"""No secret that has a name gets into evidence, and no character that a terminal obeys."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.evidence.known_secrets import KnownSecrets
from worker.evidence.redaction import (
    MASK,
    MAX_TEXT,
    is_secret_name,
    redact_closed,
    redact_headers,
    redact_json,
    redact_text,
    redact_url,
)
from worker.evidence.terminal_text import printable


@pytest.mark.parametrize(
    "name",
    ["password", "userPassword", "access_token", "api_key", "apikey", "X-Amz-Signature", "sig",
     "client-secret", "Authorization", "auth", "key", "sessionid", "Set-Cookie", "bearer", "mfa",
     "X-Session", "one-time-code"],
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
    clean = printable(text)

    assert all(char in "\n\t" or char.isprintable() or ord(char) >= 0xA0 for char in clean)


@pytest.mark.parametrize(
    "text",
    [
        "mysql://owl:hunter2@db/night",
        "mysql://owl:p@hunter2@db/night",
        "proxy http://owl:hunter2@10.0.0.1:8080 is gone",
        "https://example.com/?token=hunter2&page=1",
        "https://example.com/?x=1&api_key=hunter2",
        "PASSWORD=hunter2",
        "MYSQL_PASSWORD='hunter2'",
        "{'password': 'hunter2'}",
        '{"client_secret": "hunter2", "page": 1}',
        '{"password": "correct horse hunter2"}',
        "passwd: hunter2",
        "MYSQL_PWD=hunter2",
        "mysql://owl:1234/hunter2@db/night",
        "mysql://owl:it's-hunter2@db/night",
        "http://owl:hun/hunter2@10.0.0.1:8080",
        "redis://:hunter2@db",
        "Authorization: Basic hunter2hunter2",
        "login refused: password=hunter2",
        "cannot log in: token: hunter2",
        "http://h.test/?d=%7B%22password%22%3A%22hunter2%22%7D",
        "http://h.test/?d={%22a%22:1,%22password%22:%22a%5C%22hunter2%22}",
        "http://h.test/?d=%257B%2522pin%2522%253A%25201hunter2%257D",
        "<p>{&quot;password&quot;:&quot;a &amp; hunter2&quot;}</p>",
        "<Login><Password>hunter2</Password></Login>",
        "<w:Password type='text'>a hunter2</w:Password>",
        "<Password><![CDATA[hunter2]]></Password>",
    ],
)
def test_a_secret_in_a_line_is_taken_out(text: str):
    assert "hunter2" not in redact_text(text)
    assert MASK in redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "job 7 done in 3.2 s",
        "https://example.com/@owl/posts?page=2",
        "root@db:3306/night cannot be reached",
        "the password was refused",
        "write mysql://user:password@host:3306/name",
        "http://h.test:8080/a@b",
        "http://[::1]:8080/a@b",
        '{"at":"http://h.test:8080","by":"owl@h.test"}',
        "3 tokens: spent",
        "<code>ERR_FAILED</code> <Key>a.txt</Key> <p>password</p>",
        "http://h.test/?d=%7B%22page%22%3A%22two%22%7D",
    ],
)
def test_what_is_no_secret_stays(text: str):
    assert redact_text(text) == text


def test_what_could_steer_a_terminal_is_taken_out():
    assert printable("a\x1b[31mred\x07\x00\x9b2J\r\x7f") == "a?[31mred???2J??"
    assert printable("tab\tand\nline, ü 密 🦉") == "tab\tand\nline, ü 密 🦉"


def test_a_login_ends_at_its_quote():
    text = redact_text('{"at":"http://owl:hunter2@h.test/","by":"owl@h.test"}')

    assert text == '{"at":"http://[redacted]@h.test/","by":"owl@h.test"}'


@pytest.mark.parametrize(
    "part",
    ["a-", "a.", "://a:", "http://a:", "http://a:80/", "token ", "token=\"", "?a", "[", "@", "x@://",
     "://a:'", "basic ", "a" * 7],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", "@", "'@", "="])
def test_long_texts_take_linear_time(part: str, end: str):
    def seconds(length: int) -> float:
        text = part * (length // len(part)) + end
        began = time.process_time()
        redact_text(text)
        return time.process_time() - began

    short, long = seconds(20_000), seconds(400_000)

    # Twenty times the text; quadratic time would be four hundred times as long.
    assert long < max(100 * short, 0.5)


@pytest.mark.parametrize("ending", ["token=", "password: ", '"secret": "', "Cookie:", "api_key ="])
def test_words_after_a_message_are_taken_for_no_secret(ending: str):
    line = f"job 7 failed: got {redact_closed('the ' + ending)} → errors/7/1"

    # The launcher redacts once more what a worker says.
    assert redact_text(redact_text(line)).endswith(" → errors/7/1")
    assert redact_closed("nothing new") == "nothing new"
    assert "hunter2" not in redact_closed(f"the {ending}hunter2")


def test_a_secret_as_a_pair_is_masked():
    pairs = [{"name": "Cookie", "value": "a=1"}, {"name": "lang", "value": "de"}]

    assert redact_json(pairs) == [{"name": "Cookie", "value": MASK}, pairs[1]]


@pytest.mark.parametrize("before", range(0, 30, 3))
def test_half_of_a_secret_is_not_left_where_a_long_text_is_cut(before: int):
    secret = "correct-horse-battery-staple"
    known = KnownSecrets([secret])
    half = MAX_TEXT // 2
    for text in (
        # Across the end of the head, and across the start of the tail.
        "x " * ((half - before) // 2) + secret + " y" * MAX_TEXT,
        "x " * MAX_TEXT + f"password={secret}" + " y" * ((half - before) // 2),
    ):
        shown = redact_text(text, known)
        assert len(shown) < MAX_TEXT + 100
        assert not any(secret[at : at + 6] in shown for at in range(len(secret) - 5))


def test_the_second_half_of_an_unknown_secret_is_dropped_where_a_long_text_is_cut():
    half = MAX_TEXT // 2
    text = "x " * MAX_TEXT + 'password="correct-horse-battery' + ",y" * ((half - 8) // 2)

    assert "battery" not in redact_text(text)


def test_a_text_that_was_seen_before_is_masked_by_what_is_known_now():
    text = "see https://e.org/?page=2 for hunter2-and-more"

    assert redact_text(text) == text
    assert "hunter2" not in redact_text(text, KnownSecrets(["hunter2-and-more"]))
    assert redact_text(text) == text
