"""Lines of `.env`, read as a person means them."""

from __future__ import annotations

import pytest

from worker.dotenv import load_dotenv
from worker.errors import SettingsError


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("KEY=value", "value"),
        ("  export KEY = value  ", "value"),
        ("KEY='two words # and a hash'", "two words # and a hash"),
        ('KEY="a=b"', "a=b"),
        ("KEY=value  # a comment", "value"),
        ('KEY="two words"  # a comment', "two words"),
        ("KEY=a#b", "a#b"),
        ("KEY=", ""),
        ("KEY='", "'"),
        ("\n# a comment\n\nKEY=ü", "ü"),
    ],
)
def test_a_line_of_dotenv_is_read_as_a_person_means_it(tmp_path, line, value):
    path, environ = tmp_path / ".env", {}
    path.write_text(line + "\n", encoding="utf-8")
    load_dotenv(path, environ)
    assert environ == {"KEY": value}


def test_the_environment_wins_over_dotenv(tmp_path):
    path, environ = tmp_path / ".env", {"DATABASE_URL": "mysql://there/a", "EMPTY": ""}
    path.write_text("DATABASE_URL=mysql://here/b\nEMPTY=full\nOTHER=1\n")
    load_dotenv(path, environ)
    assert environ == {"DATABASE_URL": "mysql://there/a", "EMPTY": "", "OTHER": "1"}


def test_a_missing_dotenv_is_no_error(tmp_path):
    environ = {}
    load_dotenv(tmp_path / ".env", environ)
    assert environ == {}


@pytest.mark.parametrize("line", ["no equals sign", "2KEY=value", "=value", "TWO WORDS=value"])
def test_a_bad_line_of_dotenv_is_named_by_file_and_number(tmp_path, line):
    path = tmp_path / ".env"
    path.write_text(f"GOOD=1\n{line}\n")
    with pytest.raises(SettingsError, match=rf"{path}:2: expected KEY=value"):
        load_dotenv(path, {})


def test_a_dotenv_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(SettingsError, match=f"{tmp_path} cannot be read"):
        load_dotenv(tmp_path, {})
    path = tmp_path / ".env"
    path.write_bytes(b"KEY=\xff\xfe\n")
    with pytest.raises(SettingsError, match=f"{path} cannot be read"):
        load_dotenv(path, {})
