"""DATABASE_URL and MYSQL_*: what they mean, and that no message gives a password away."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.database_settings import DatabaseSettings, database_settings
from worker.errors import SettingsError


def from_url(url: str) -> DatabaseSettings:
    settings = database_settings({"DATABASE_URL": url})
    assert settings is not None
    return settings


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
