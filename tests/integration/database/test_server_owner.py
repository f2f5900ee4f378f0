"""The private server is its owner's: no other user's process is taken for it, or told a job."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from worker.database.client import Database
from worker.database.private_server import PrivateServer, PrivateSettings
from worker.database.server_socket import path_for
from worker.errors import DatabaseUnavailable

STRANGER = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
# It binds as root, as if the folder had been open for a moment, and listens as the stranger.
LISTEN = """
import os, socket, sys
ears = socket.socket(socket.AF_UNIX)
ears.bind(sys.argv[1])
os.setuid(int(sys.argv[2]))
ears.listen()
print("listening", flush=True)
while True:
    try:
        ears.accept()[0].sendall(b"hello")
    except OSError:
        pass  # Whoever saw in time that we are a stranger has left.
"""
WAIT = "import sys; print('here', flush=True); sys.stdin.read()"
# Of a process that hides its memory, most files in /proc are root's.
HIDE = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); "


@pytest.fixture
def stranger() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start processes of another user, or as we say; all are ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: object, **how: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            ["/usr/bin/env", "python3", "-c", script, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            **how,  # type: ignore[call-overload]
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline()
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def private(folder: Path) -> PrivateSettings:
    return PrivateSettings(unix_socket=str(path_for(folder)), server_folder=folder, database="")


def refusal(folder: Path) -> str:
    with closing(Database(private(folder))) as db, pytest.raises(DatabaseUnavailable) as caught:
        db.ping()
    return str(caught.value)


@needs_root
@pytest.mark.parametrize("script", [WAIT, HIDE + WAIT])
def test_a_strangers_process_with_our_arguments_is_not_our_server(tmp_path, stranger, script):
    server = PrivateServer(tmp_path / "mysql")
    server.folder.mkdir()
    claim = f"--datadir={server.data_path}"
    bystander = stranger(script, claim, user=STRANGER)

    assert server.pid() is None
    server.kill()
    assert bystander.poll() is None

    # The same process, were it ours, would be taken for it: the arguments are not at fault.
    ours = stranger(WAIT, claim)
    assert server.pid() == ours.pid


@needs_root
def test_a_strangers_server_is_told_nothing(tmp_path, stranger):
    folder = tmp_path / "mysql"
    folder.mkdir(mode=0o700)
    stranger(LISTEN, path_for(folder), STRANGER)

    assert f"of another user (uid {STRANGER})" in refusal(folder)
    with pytest.raises(DatabaseUnavailable, match="of another user"):
        PrivateServer(folder)._answers()


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o707, 0o722])
def test_a_folder_that_others_can_reach_is_refused_at_every_connect(tmp_path, mode):
    folder = tmp_path / "mysql"
    folder.mkdir()
    folder.chmod(mode)

    assert f"others can reach it; chmod 700 {folder}" in refusal(folder)


@needs_root
def test_a_short_socket_folder_that_a_stranger_made_first_is_refused(tmp_path):
    folder = tmp_path / ("long" * 30) / "mysql"
    folder.mkdir(parents=True, mode=0o700)
    short = path_for(folder).parent
    short.mkdir(mode=0o700)
    try:
        os.chown(short, STRANGER, STRANGER)
        assert f"{short} should hold the private server's socket" in refusal(folder)
        short.rmdir()
        short.symlink_to(tmp_path)
        assert "remove it and try again" in refusal(folder)
    finally:
        short.unlink() if short.is_symlink() else short.rmdir()


def test_our_own_server_is_reached_after_the_checks_also_by_a_long_path(tmp_path):
    server = PrivateServer(tmp_path / ("long" * 30) / "mysql")
    try:
        server.start()
        with closing(Database(private(server.folder))) as db:
            assert db.run_statement("SELECT 1 AS one") == [{"one": 1}]
            # A connection that is opened later is checked as the first was.
            server.socket_path.parent.chmod(0o755)
            db.close()
            began = time.monotonic()
            with pytest.raises(DatabaseUnavailable, match="others can reach it"):
                db.ping()
            assert time.monotonic() - began < 5
    finally:
        server.socket_path.parent.chmod(0o700)
        server.stop()
        server.socket_path.parent.rmdir()
