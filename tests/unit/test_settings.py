"""Settings: durations, .env, DATABASE_URL and MYSQL_*, and what a run refuses to be told."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.errors import SettingsError, UsageError
from worker.settings import (
    DatabaseSettings,
    RunSettings,
    database_settings,
    load_dotenv,
    parse_duration,
)


def from_url(url: str) -> DatabaseSettings:
    settings = database_settings({"DATABASE_URL": url})
    assert settings is not None
    return settings


def run_with(**changes) -> RunSettings:
    return RunSettings(DatabaseSettings(), **changes)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("600", 600),
        ("90s", 90),
        ("10m", 600),
        ("6h", 21_600),
        ("30d", 2_592_000),
        ("250ms", 0.25),
        ("1.5m", 90),
        (" 5 S ", 5),
        ("0", 0),
    ],
)
def test_a_duration_is_read_as_seconds(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "ten", "-5", "5w", "1h30m", "1,5s", "nan", "inf"])
def test_what_is_no_duration_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="write 600, 90s, 10m, 6h or 30d"):
        parse_duration(text)


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


@pytest.mark.parametrize("environ", [{}, {"DATABASE_URL": "  "}, {"MYSQL_PASSWORD": "alone"}])
def test_without_a_database_in_the_environment_the_private_one_is_meant(environ):
    assert database_settings(environ) is None


@pytest.mark.parametrize("scheme", ["mysql", "mariadb", "mysql+pymysql"])
def test_a_whole_url_is_taken_apart(scheme):
    settings = from_url(f"{scheme}://owl:secret@db.example:3307/night")
    assert settings == DatabaseSettings("owl", "secret", "db.example", 3307, "night")


def test_a_short_url_has_defaults_for_the_rest():
    assert from_url("mysql:///night") == DatabaseSettings(database="night")
    assert from_url("mysql://db/night") == DatabaseSettings(host="db", database="night")
    assert from_url("mysql://owl@db/night").password == ""


def test_an_ipv6_host_is_taken_out_of_its_brackets():
    settings = from_url("mysql://owl:secret@[::1]:3307/night")
    assert (settings.host, settings.port) == ("::1", 3307)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_encoded_password_is_read_back(password):
    url = f"mysql://owl:{quote(password, safe='')}@db:3307/night?ssl-mode=required"
    settings = from_url(url)
    assert (settings.password, settings.host, settings.port) == (password, "db", 3307)
    assert (settings.database, settings.ssl_mode) == ("night", "required")


@pytest.mark.parametrize("password", ["p@ss/w:rd?#%ü", "a@b@c", "//", "%", "x?socket=y", "[:]"])
def test_a_password_with_special_characters_need_not_be_encoded(password):
    settings = from_url(f"mysql://owl:{password}@db:3307/night")
    assert (settings.password, settings.host, settings.database) == (password, "db", "night")


def test_the_options_of_a_url_are_socket_and_tls():
    settings = from_url(
        "mysql://owl@localhost/night?unix_socket=/run/my.sock&charset=utf8"
        "&ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca.pem&ssl_cert=/cert.pem&ssl-key=/key.pem"
    )
    assert settings.unix_socket == "/run/my.sock"
    assert (settings.ssl_mode, settings.ssl_ca) == ("verify-identity", "/ca.pem")
    assert (settings.ssl_cert, settings.ssl_key) == ("/cert.pem", "/key.pem")
    assert from_url("mysql://db/night?ssl-ca=/ca.pem").ssl_mode == "verify-ca"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgres://owl:secret@db/night", r"write mysql://user:password@host:3306/name"),
        ("owl:secret@db/night", r"write mysql://user:password@host:3306/name"),
        ("mysql:owl:secret@db/night", r"write mysql://user:password@host:3306/name"),
        ("mysql://owl:secret@db:3306", "names no database"),
        ("mysql://owl:secret@db/", "names no database"),
        ("mysql://owl:secret@db:port/night", "'port' is not a port"),
        ("mysql://owl:secret@db:0/night", "'0' is not a port"),
        ("mysql://owl:secret@db:65536/night", "'65536' is not a port"),
        ("mysql://owl:secret@db/night?sslmode=required", "unknown option 'sslmode'"),
        ("mysql://owl:secret@db/night?ssl-mode=maybe", "ssl-mode 'maybe' is unknown; use disabled"),
        # The host was forgotten, and so the password stands where a port would.
        ("mysql://owl:secret/night", "DATABASE_URL"),
    ],
)
def test_a_wrong_url_is_told_in_one_line_without_its_password(url, told):
    with pytest.raises(SettingsError, match=told) as caught:
        from_url(url)
    assert "DATABASE_URL" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_mysql_variables_are_read_part_by_part():
    settings = database_settings(
        {
            "MYSQL_HOST": "db",
            "MYSQL_PORT": "3307",
            "MYSQL_USER": "owl",
            "MYSQL_PASSWORD": "p@ss/w:rd?#%41",
            "MYSQL_DATABASE": "night",
            "MYSQL_SSL_CA": "/ca.pem",
        }
    )
    assert settings == DatabaseSettings(
        "owl", "p@ss/w:rd?#%41", "db", 3307, "night", ssl_mode="verify-ca", ssl_ca="/ca.pem"
    )
    assert database_settings({"MYSQL_UNIX_PORT": "/run/my.sock"}).unix_socket == "/run/my.sock"


def test_the_url_wins_over_the_variables():
    environ = {"DATABASE_URL": "mysql://here/night", "MYSQL_HOST": "there"}
    assert database_settings(environ).host == "here"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [("MYSQL_PORT", "x", "MYSQL_PORT: 'x'"), ("MYSQL_SSL_MODE", "y", "MYSQL_SSL_MODE: .*'y'")],
)
def test_a_wrong_variable_is_named(name, value, told):
    with pytest.raises(SettingsError, match=told):
        database_settings({"MYSQL_HOST": "db", name: value})


def test_no_text_of_the_settings_holds_the_password():
    settings = from_url("mysql://owl:secret@db/night")
    assert "secret" not in f"{settings} {settings!r} {run_with()!r} {RunSettings(settings)!r}"
    assert str(settings) == "owl@db:3306/night"


def test_a_run_knows_the_slots_it_works_itself():
    assert list(run_with(workers=6, total=18, offset=6).slots) == [6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({"workers": 0}, "--workers 0"),
        ({"workers": -1}, "--workers -1"),
        ({"total": 0}, "--total 0"),
        ({"offset": -1}, "--offset -1"),
        ({"workers": 6, "total": 18, "offset": 13}, "needs slots 13..18, but --total 18"),
        ({"workers": 3, "total": 2}, "raise --total or lower --offset"),
        ({"max_attempts": 0}, "--max-attempts 0"),
        ({"lease_seconds": 1}, "--lease 1"),
        ({"job_timeout_seconds": 0}, "--job-timeout 0"),
        ({"page_timeout_seconds": 0}, "--page-timeout 0"),
    ],
)
def test_a_run_that_makes_no_sense_is_refused_by_its_flag(changes, flag):
    with pytest.raises(UsageError, match=flag):
        run_with(**changes)


@pytest.mark.parametrize(
    ("field", "flag"),
    [
        ("breaker_cooldown_seconds", "--breaker-cooldown"),
        ("proxy_cooldown_seconds", "--proxy-cooldown"),
    ],
)
def test_a_cooldown_of_nothing_is_refused(field, flag):
    with pytest.raises(UsageError, match=f"{flag} 0 makes no sense; give more than 0"):
        run_with(**{field: 0.0})
