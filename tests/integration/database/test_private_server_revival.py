"""A private server that was killed is started again by one of its clients; a stopped one is not."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.integration.database.conftest import REPO, processes_using, wait_for
from worker.database.client import Database
from worker.database.private_server import PrivateServer, PrivateSettings
from worker.errors import DatabaseUnavailable

REVIVE = (
    "import sys; from pathlib import Path; "
    "from worker.database.private_server import PrivateServer; "
    "print(PrivateServer(Path(sys.argv[1])).revive())"
)


def begin_revival(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", REVIVE, folder], cwd=REPO, stdout=subprocess.PIPE, text=True
    )


def let_it_be_revived(server: PrivateServer) -> None:
    """Forget that it was started again a moment ago."""
    (server.folder / "revived").unlink(missing_ok=True)


def test_a_killed_server_is_started_again_by_one_of_those_who_miss_it(own: PrivateServer) -> None:
    own.start()
    let_it_be_revived(own)
    own.kill()

    starters = [begin_revival(own.folder) for _ in range(4)]
    outputs = sorted(starter.communicate(timeout=60)[0] for starter in starters)

    assert outputs == ["False\n"] * 3 + ["True\n"]
    wait_for(lambda: own.status().answers)
    assert len(processes_using(own.data_path)) == 1


def test_a_server_that_was_stopped_is_not_started_again_by_those_who_miss_it(
    own: PrivateServer,
) -> None:
    own.start()
    let_it_be_revived(own)
    own.stop()

    assert not own.revive()
    assert not own.is_running()
    assert "was stopped; start it: python launcher.py db start" in own.absence("")


def test_a_server_that_dies_of_its_start_is_not_started_again_and_again(own: PrivateServer) -> None:
    own.start()
    let_it_be_revived(own)
    own.kill()
    assert own.revive()
    own.kill()

    assert not own.revive()
    assert not own.is_running()


def test_a_client_that_waits_starts_its_killed_server_by_itself(own: PrivateServer) -> None:
    own.start()
    let_it_be_revived(own)
    settings = PrivateSettings(
        database="", unix_socket=str(own.socket_path), server_folder=own.folder
    )
    with closing(Database(settings, patience_seconds=60)) as db:
        db.ping()
        own.kill()
        db.ping()
    assert own.status().answers


def test_a_client_of_a_stopped_server_says_how_to_start_it(own: PrivateServer) -> None:
    own.start()
    own.stop()
    settings = PrivateSettings(unix_socket=str(own.socket_path), server_folder=own.folder)

    with pytest.raises(DatabaseUnavailable, match=r"was stopped; start it: .* db start"):
        Database(settings).ping()
