"""TLS: used, checked, required or left out as the settings say."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from tests.integration.database.conftest import over_tcp, refusal
from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.errors import (
    NightshiftError,
    SettingsError,
)


def cipher(settings):
    with closing(Database(settings)) as db:
        return db.run_statement("SHOW STATUS LIKE 'Ssl_cipher'")[0]["Value"]


def test_tls_is_used_checked_or_left_out_as_asked(tls_server, tmp_path):
    ca = str(tmp_path / "certificate.pem")
    assert cipher(over_tcp(tls_server, ssl_mode="required"))
    assert cipher(over_tcp(tls_server, ssl_mode="preferred"))
    assert cipher(over_tcp(tls_server, ssl_mode="verify-ca", ssl_ca=ca))
    assert cipher(over_tcp(tls_server, ssl_mode="verify-identity", ssl_ca=ca))
    assert not cipher(over_tcp(tls_server, ssl_mode="disabled"))

    text = refusal(Database(over_tcp(tls_server, ssl_mode="verify-ca")))
    assert "certificate verify failed" in text
    named = replace(over_tcp(tls_server, ssl_mode="verify-identity", ssl_ca=ca), host="localhost")
    assert "certificate" in refusal(Database(named))


def test_a_server_without_tls_is_refused_where_tls_is_required(own_server):
    assert not cipher(over_tcp(own_server, ssl_mode="preferred"))
    text = refusal(Database(over_tcp(own_server, ssl_mode="required")), NightshiftError)
    assert f"127.0.0.1:{own_server.port}" in text
    assert "TLS" in text or "SSL" in text


def test_a_password_gets_over_a_line_without_tls(own_server):
    with closing(Database(over_tcp(own_server))) as root:
        root.run_statement("DROP USER IF EXISTS owl@localhost")
        root.run_statement("CREATE USER owl@localhost IDENTIFIED BY 'the-secret'")
    as_owl = over_tcp(own_server, user="owl", password="the-secret")
    with closing(Database(replace(as_owl, database="information_schema"))) as db:
        assert db.run_statement("SELECT CURRENT_USER() AS me") == [{"me": "owl@localhost"}]


def test_a_missing_authority_file_is_named(tmp_path):
    absent = str(tmp_path / "absent.pem")
    settings = DatabaseSettings(host="127.0.0.1", ssl_mode="verify-ca", ssl_ca=absent)
    with pytest.raises(SettingsError, match=r"absent\.pem"):
        Database(settings).ping()
