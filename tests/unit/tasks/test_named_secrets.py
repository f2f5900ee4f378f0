"""A secret that a job names: where it is read from, and what is refused."""

from __future__ import annotations

import pytest

from worker.errors import Fail
from worker.evidence import known_secrets
from worker.evidence.redaction import redact_text
from worker.tasks import named_secrets


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NIGHTSHIFT_SECRETS_DIR", str(tmp_path))
    known_secrets.begin(None)
    yield tmp_path
    known_secrets.end()


def test_a_secret_is_read_from_a_file_first_and_then_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv("SHOP_PASSWORD", "of the environment")
    assert named_secrets.read("SHOP_PASSWORD") == "of the environment"

    (folder / "SHOP_PASSWORD").write_text("of the file\n")
    assert named_secrets.read("SHOP_PASSWORD") == "of the file"


def test_what_was_read_is_masked_from_then_on(folder):
    (folder / "SHOP_PASSWORD").write_text("a white horse")
    named_secrets.read("SHOP_PASSWORD")

    assert redact_text("saw a%20white%20horse") == "saw [redacted]"


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "a/b", "../x", "a.b", "/etc/passwd", "é", "x" * 101, "A\n", None, 7, ["A"]],
)
def test_a_name_that_could_be_a_path_is_refused(name):
    with pytest.raises(Fail, match="a secret cannot be named"):
        named_secrets.read(name)


@pytest.mark.parametrize(
    "name", ["DATABASE_URL", "NIGHTSHIFT_WEBHOOK_SECRET", "SENTRY_DSN", "HTTPS_PROXY"]
)
def test_the_pools_own_settings_are_no_secrets_of_a_job(name, folder, monkeypatch):
    monkeypatch.setenv(name, "hunter2")
    with pytest.raises(Fail, match="no job may read it") as refused:
        named_secrets.read(name)
    assert "hunter2" not in str(refused.value)


def test_a_missing_secret_says_where_to_put_it(folder, monkeypatch):
    with pytest.raises(Fail, match=f"put it into the file {folder}/SHOP_PASSWORD"):
        named_secrets.read("SHOP_PASSWORD")
    monkeypatch.delenv("NIGHTSHIFT_SECRETS_DIR")
    with pytest.raises(Fail, match="NIGHTSHIFT_SECRETS_DIR/SHOP_PASSWORD"):
        named_secrets.read("SHOP_PASSWORD")


def test_a_file_that_cannot_be_read_is_one_clear_line(folder):
    (folder / "A").mkdir()
    (folder / "B").write_bytes(b"\xff\xfe")
    for name in "AB":
        with pytest.raises(Fail, match=f"the secret {name} in .* cannot be read"):
            named_secrets.read(name)


@pytest.mark.parametrize("value", ["123", " ab ", "none", "True"])
def test_a_secret_that_could_not_be_masked_is_refused(value, folder):
    (folder / "PIN").write_text(value)
    with pytest.raises(Fail, match="the secret PIN is too short") as refused:
        named_secrets.read("PIN")
    assert value.strip() not in str(refused.value)
