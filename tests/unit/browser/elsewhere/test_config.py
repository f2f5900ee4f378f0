"""The settings of browsers elsewhere: read once, taken out of the environment, masked."""

from __future__ import annotations

import pytest

from worker.browser.elsewhere import config
from worker.browser.elsewhere.config import parse_headers, take
from worker.errors import SettingsError
from worker.evidence import known_secrets


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """What a test makes known is forgotten after it."""
    monkeypatch.setattr(known_secrets, "_kept", known_secrets.KnownSecrets())
    monkeypatch.setattr(known_secrets, "_of_browser", known_secrets.KnownSecrets())
    monkeypatch.setattr(known_secrets, "_connections", known_secrets.deque(maxlen=20))


def test_without_an_endpoint_there_is_nothing_elsewhere():
    assert take([], {"OTHER": "x"}) is None


def test_what_holds_secrets_is_taken_out_of_the_environment():
    environ = {
        config.VARIABLE: "wss://host.test?token=s3cret-t0ken",
        config.HEADERS: '{"X-Key": "k3y-k3y-k3y"}',
        config.CLOSE_URL: "POST https://api.test/{session}?key=cl0se-k3y",
        config.STATUS_URL: "https://api.test/status",
        config.LIVE_URL: "https://app.test/{session}",
        "OTHER": "x",
    }

    found = take([environ[config.VARIABLE]], environ)

    assert environ == {"OTHER": "x"}
    assert found.headers.read() == {"X-Key": "k3y-k3y-k3y"}
    for secret in ("s3cret-t0ken", "k3y-k3y-k3y", "cl0se-k3y"):
        assert secret not in repr(found)
        assert secret not in known_secrets.mask(f"it said {secret}")


def test_an_address_may_be_named_instead_of_written(tmp_path):
    file = tmp_path / "endpoints"
    file.write_text("# ours\nws://a:1\nws://b:2\n")

    found = take([f"file:{file}", "env:MORE"], {"MORE": "ws://c:3"})

    assert [str(endpoint) for endpoint in found.endpoints] == ["ws://a:1", "ws://b:2", "ws://c:3"]


def test_a_file_of_headers_is_read_anew(tmp_path):
    file = tmp_path / "headers"
    file.write_text("Authorization: Bearer t0ken-number-one\n")
    found = take(["ws://a"], {config.HEADERS_FILE: str(file)})

    file.write_text("Authorization: Bearer t0ken-number-two\n")

    assert found.headers.read() == {"Authorization": "Bearer t0ken-number-two"}
    masked = known_secrets.mask("t0ken-number-one and t0ken-number-two")
    assert masked == "[redacted] and [redacted]"


@pytest.mark.parametrize("text", ['{"a": 1}', "{no json", "hunter two", "A B: c", '["a"]', ": x"])
def test_what_are_no_headers_is_refused_without_being_repeated(text):
    with pytest.raises(SettingsError, match="NIGHTSHIFT_BROWSER_HEADERS") as refused:
        parse_headers(text, config.HEADERS)

    assert text not in str(refused.value)


def test_a_wrong_address_behind_a_reference_is_not_repeated():
    with pytest.raises(SettingsError, match="not an endpoint of a browser") as refused:
        take(["env:MINE"], {"MINE": "hunter2-is-no-url"})

    assert "hunter2" not in str(refused.value)
