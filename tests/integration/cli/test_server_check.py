"""What a server must not be, or is told of, at the start of a run and by `doctor`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from tests.lifecycle.conftest import run_command
from tests.pooler import Pooler
from worker.cli import preflight
from worker.database import server_kind
from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError
from worker.settings import RunSettings

REFUSED = [
    ("5.7.44-log", "MySQL 5.7.44-log is not supported: MySQL 8.0 or later is needed"),
    ("10.5.29-MariaDB-log", "MariaDB 10.5.29 is not supported: MariaDB 10.6 or later is needed"),
    ("8.0.11-TiDB-v7.5.0", "TiDB (8.0.11-TiDB-v7.5.0) is not supported: its ids are not given in"),
    ("8.0.30-Vitess", "Vitess (8.0.30-Vitess) is not supported: a transaction over several shards"),
]

VARIABLES = f"SHOW VARIABLES WHERE Variable_name IN {server_kind._VARIABLES}".replace("', '", "','")
# doctor is quicker without a browser to start.
NO_BROWSER = {"NIGHTSHIFT_BROWSER": "/absent"}


@pytest.fixture
def server_of(database, settings) -> Iterator[Callable[..., DatabaseSettings]]:
    """The test's server, as it looks behind something that gives it another version or comment."""
    with ExitStack() as stack:

        def server_of(version: str, comment: str = "", id_step: int = 1) -> DatabaseSettings:
            asks = {
                "SELECT VERSION() AS version": f"SELECT '{version}' AS version",
                "SELECT @@version_comment LIMIT 1": f"SELECT '{comment}' LIMIT 1",
                VARIABLES: f"SELECT 'auto_increment_increment' Variable_name, '{id_step}' Value",
            }
            pooler = stack.enter_context(closing(Pooler(settings, version, asks)))
            return replace(
                settings,
                unix_socket=None, host="127.0.0.1", port=pooler.port, ssl_mode="disabled",
            )  # fmt: skip

        yield server_of


@pytest.fixture
def cli(tmp_path):
    """Run a command on a server."""

    def cli(server: DatabaseSettings, *arguments: str, **changes: str):
        url = f"mysql://root@127.0.0.1:{server.port}/{server.database}?ssl-mode=disabled"
        return run_command(tmp_path, *arguments, DATABASE_URL=url, **changes)

    return cli


@pytest.mark.parametrize(("version", "said"), REFUSED)
def test_a_run_is_refused_on_a_server_that_is_not_supported(
    server_of, database, tmp_path, version, said
):
    server = server_of(version)
    run = RunSettings(database=server, workers=1, total=1, errors_dir=tmp_path / "errors")

    with pytest.raises(SettingsError) as refused:
        preflight.check(run, (), os.getpid())

    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 78
    assert database.run_statement("SELECT COUNT(*) AS n FROM runs") == [{"n": 0}]


@pytest.mark.parametrize(("version", "said"), REFUSED[:1] + REFUSED[2:3])
def test_doctor_says_that_a_server_is_not_supported(server_of, cli, version, said):
    done = cli(server_of(version), "doctor", **NO_BROWSER)

    (line,) = [each for each in done.stdout.splitlines() if each[5:].startswith("server: ")]
    assert line.startswith(f"FAIL server: {said}")
    assert done.returncode == 78


def test_doctor_names_a_proxysql_in_front(server_of, cli):
    done = cli(server_of("8.0.39", "(ProxySQL)"), "doctor", **NO_BROWSER)

    (line,) = [each for each in done.stdout.splitlines() if each[5:].startswith("server: ")]
    assert line.startswith("ok   server: MySQL 8.0.39, ProxySQL in front; two connections agree")


def test_a_run_warns_that_no_help_leaves_slots_idle_where_ids_do_not_grow_by_one(server_of, cli):
    flags = ("run", "--workers=1", "--total=6", "--no-help")
    warned = cli(server_of("8.0.39", id_step=3), *flags)
    plain = cli(server_of("8.0.39"), *flags)

    assert (warned.returncode, plain.returncode) == (0, 0), warned.stderr
    assert "nightshift: ids grow by 3 here, so the 6 slots get unequal shares" in warned.stderr
    assert "ids grow by" not in plain.stderr
