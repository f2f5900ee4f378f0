from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.cli import connection
from worker.cli.main import main
from worker.exit_codes import ExitCode

ASKING = (
    "status", "jobs", "errors", "show 1", "why 1", "todo", "report", "export", "metrics", "runs",
    "watch", "pause", "sweep", "mute abc --reason x", "accounts list", "db shell", "dashboard",
)  # fmt: skip
BEGINNING = ("enqueue https://a.example --task visit", "limits set global --concurrent 1")


class Begun(Exception):
    """The private server would have been started now."""


@pytest.fixture(autouse=True)
def kept_log_level() -> Iterator[None]:
    """Commands set how much is logged, for a process that is theirs."""
    logger = logging.getLogger("nightshift")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing was ever done, and nobody who has configured anything."""
    for name in ("DATABASE_URL", "MYSQL_HOST", "MYSQL_SOCKET", "MYSQL_UNIX_PORT", "MYSQL_USER"):
        monkeypatch.delenv(name, raising=False)
    for name in ("NIGHTSHIFT_STATE_DIR", "NIGHTSHIFT_ENV_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NIGHTSHIFT_PROJECT", str(tmp_path))

    def begin() -> None:
        raise Begun

    monkeypatch.setattr(connection, "resolve", begin)
    return tmp_path


@pytest.mark.parametrize("command", ASKING)
def test_asking_about_a_queue_where_no_project_is_says_so_and_makes_nothing(
    command, folder, capsys
):
    with pytest.raises(SystemExit) as ended:
        main(command.split())

    assert ended.value.code == ExitCode.CONFIGURATION
    (line,) = capsys.readouterr().err.splitlines()
    assert "there is no queue here" in line
    assert str(folder) in line
    for way_out in ("--project", "init", "enqueue", "DATABASE_URL"):
        assert way_out in line
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("command", BEGINNING)
def test_the_first_jobs_or_rules_of_a_queue_begin_it(command):
    with pytest.raises(Begun):
        main(command.split())


@pytest.mark.parametrize("name", ["nightshift.toml", ".env", ".local"])
def test_a_folder_with_anything_of_a_project_has_a_queue(name, folder):
    (folder / name).mkdir()

    with pytest.raises(Begun):
        connection.open_database()


def test_the_checkout_always_has_a_queue(monkeypatch):
    monkeypatch.delenv("NIGHTSHIFT_PROJECT")
    monkeypatch.setenv("NIGHTSHIFT_STATE_DIR", "/nowhere/at/all")

    with pytest.raises(Begun):
        connection.open_database()


def test_a_configured_database_is_a_queue(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "mysql://someone@db.example/queue")

    with pytest.raises(Begun):
        connection.open_database()
