"""Whom to tell: references become URLs, and what is secret in them is masked."""

from __future__ import annotations

import pytest

from worker.errors import SettingsError
from worker.evidence import known_secrets
from worker.notices.targets import is_secret, name_of, resolve, secrets_in


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """What a test makes known is forgotten after it."""
    monkeypatch.setattr(known_secrets, "_kept", known_secrets.KnownSecrets())


def test_a_url_stays_what_it_is():
    assert resolve(["json://127.0.0.1:1/x"], {}) == ("json://127.0.0.1:1/x",)


def test_a_variable_may_hold_several_and_is_not_passed_on():
    environ = {"OPS": "json://one  json://two", "OTHER": "x"}

    assert resolve(["env:OPS"], environ) == ("json://one", "json://two")
    assert environ == {"OTHER": "x"}


def test_a_file_holds_one_a_line_and_comments(tmp_path):
    file = tmp_path / "urls"
    file.write_text("# who is on call\n\njson://one\n  json://two  \n")

    assert resolve([f"file:{file}"], {}) == ("json://one", "json://two")


@pytest.mark.parametrize("value", ["env:ABSENT", "file:/no/such/file", "file:/dev/null"])
def test_an_empty_reference_says_which_it_is(value):
    with pytest.raises(SettingsError, match=value.partition(":")[2]):
        resolve([value], {})


def test_what_a_reference_holds_is_never_repeated():
    with pytest.raises(SettingsError) as refused:
        resolve(["env:OPS"], {"OPS": "hunter2-is-no-url"})

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#ops", "TIiajkdnlazkcOXrIdevi7FQ"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#ops", "A1BRTD4JD"),
        ("tgram://123456789:abcdefg_hijklmnop/12315544/", "abcdefg_hijklmnop"),
        ("mailto://me:s3cr%40t@example.com", "s3cr@t"),
        ("ntfys://ntfy.example.com/x?token=tk_AgQdq7mVBoFD37zQVN29", "tk_AgQdq7mVBoFD37zQVN29"),
    ],
)
def test_the_secrets_of_a_url_are_masked_from_then_on(url, secret):
    resolve([url], {})

    assert secret not in known_secrets.mask(f"it said {secret} and {url}")


def test_ordinary_words_of_a_url_are_not_masked():
    parts = set(secrets_in("ntfy://ntfy.example.com/nightshift?priority=high"))

    assert parts == {"ntfy://ntfy.example.com/nightshift?priority=high"}


def test_a_secret_does_not_belong_on_a_command_line():
    assert is_secret("slack://a/b/c")
    assert is_secret("json://me:word@host")
    assert not is_secret("json://127.0.0.1:8000")
    assert not is_secret("env:OPS")
    assert not is_secret("file:/etc/nightshift/notify")


def test_a_target_is_named_by_its_number_and_service():
    assert name_of("Slack://a/b/c", 2) == "target 2 (slack)"
