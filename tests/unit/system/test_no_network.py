"""While there is no network, nothing of this process reaches anybody, whatever it tries."""

from __future__ import annotations

import os
import socket
import subprocess

import httpx
import pytest

from worker.system.no_network import without_network


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        yield listener


def test_a_socket_reaches_nobody(listener):
    host, port = listener.getsockname()

    with without_network() as refused, pytest.raises(OSError, match="refused while offline"):
        socket.create_connection((host, port))

    assert refused == [f"asks the network ({host}:{port})"]
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_a_library_is_told_as_if_the_network_were_away():
    with without_network(), pytest.raises(httpx.ConnectError):
        httpx.get("http://nightshift.invalid/")


@pytest.mark.parametrize(
    "start", [lambda: subprocess.run(["true"], check=False), lambda: os.system("true"), os.fork]
)
def test_no_program_is_started_that_could(start):
    with without_network() as refused, pytest.raises(OSError, match="refused while offline"):
        start()

    assert refused[0].startswith("starts a program")


def test_files_of_this_machine_and_the_time_after_are_free(tmp_path, listener):
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "socket"))
        server.listen()
        with without_network() as refused:
            client.connect(str(tmp_path / "socket"))

    assert refused == []
    socket.create_connection(listener.getsockname()).close()
