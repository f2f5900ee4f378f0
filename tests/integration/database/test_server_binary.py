"""A server program that is missing or does not run is named, with its remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.database import server_binary
from worker.database.private_server import PrivateServer
from worker.errors import DatabaseUnavailable


def test_a_missing_server_program_is_told_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NIGHTSHIFT_MYSQLD", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(server_binary, "SYSTEM_FOLDERS", str(tmp_path))
    with pytest.raises(DatabaseUnavailable, match=r"make setup.*default-mysql-server-core"):
        PrivateServer(tmp_path / "mysql").start()


def test_a_program_that_does_not_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match=f"{tmp_path}/absent does not run"):
        PrivateServer(tmp_path / "mysql", binary=tmp_path / "absent").start()
