"""systemd's notify protocol: what is said, to whom, and that it is said by this process alone."""

from __future__ import annotations

import os
import socket
import uuid

import pytest

from worker.supervisor.service_manager import ServiceManager


@pytest.fixture(params=["in a folder", "abstract"])
def manager(request, tmp_path):
    """A service manager's socket, and the address under which systemd would name it."""
    name = str(tmp_path / "notify")
    if request.param == "abstract":
        name = f"@nightshift-{uuid.uuid4()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind("\0" + name[1:] if name.startswith("@") else name)
        receiver.settimeout(5)
        yield receiver, name


def heard(receiver: socket.socket) -> list[list[str]]:
    """Everything that has come so far."""
    texts = []
    receiver.setblocking(False)
    while True:
        try:
            texts.append(receiver.recv(4096).decode().split("\n"))
        except BlockingIOError:
            return texts


def test_it_says_ready_and_stopping_once_each(manager):
    receiver, address = manager
    service = ServiceManager.taken_from({"NOTIFY_SOCKET": address})
    for _ in range(2):
        service.ready("2 workers")
        service.stopping()
    service.loop_is_over()

    assert heard(receiver) == [["READY=1", "STATUS=2 workers"], ["STOPPING=1"]]


def test_it_beats_at_half_of_the_watchdogs_time(manager, monkeypatch):
    receiver, address = manager
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    service = ServiceManager.taken_from({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "4000000"})
    for moment in (100.0, 101.9, 102.0, 103.0, 104.0):
        now[0] = moment
        service.beat(lambda: f"at {now[0]:g}\nREADY=1")

    beats = heard(receiver)
    assert [beat[0] for beat in beats] == ["WATCHDOG=1"] * 3
    assert all(len(beat) == 2 for beat in beats), "a status is one line, whatever it holds"


def test_without_a_watchdog_it_only_tells_the_status(manager):
    receiver, address = manager
    ServiceManager.taken_from({"NOTIFY_SOCKET": address}).beat(lambda: "at work")

    assert heard(receiver) == [["STATUS=at work"]]


def test_another_process_watchdog_is_left_alone(manager):
    receiver, address = manager
    given = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "9", "WATCHDOG_PID": str(os.getpid() + 1)}
    service = ServiceManager.taken_from(given)
    service.beat(lambda: "x")

    assert heard(receiver) == [["STATUS=x"]]
    assert given == {}


def test_after_the_loop_the_watchdog_has_time(manager):
    receiver, address = manager
    service = ServiceManager.taken_from({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "4000000"})
    service.loop_is_over()

    assert heard(receiver) == [["STOPPING=1"], ["WATCHDOG_USEC=3600000000"]]


@pytest.mark.parametrize("address", ["", "/no/such/socket", "@nobody-is-here", "x" * 300, "a\0b"])
def test_a_manager_that_is_not_there_matters_to_nobody(address):
    service = ServiceManager.taken_from({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "soon"})
    service.ready("x")
    service.beat(lambda: "x")
    service.loop_is_over()
