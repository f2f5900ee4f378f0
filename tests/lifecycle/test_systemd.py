"""A run under systemd: READY with its workers, a watchdog fed by the loop, STOPPING at its end."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lifecycle.conftest import wait_until

VARIABLES = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}
PRYING_TASKS = Path(__file__).with_name("prying_tasks.py")


class Systemd:
    """The service manager's end of the protocol."""

    def __init__(self, receiver: socket.socket, address: str) -> None:
        self._receiver = receiver
        self.variables = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000000"}
        self._heard: list[str] = []

    @property
    def heard(self) -> list[str]:
        """Every line so far."""
        while True:
            try:
                self._heard += self._receiver.recv(4096).decode().split("\n")
            except BlockingIOError:
                return self._heard

    def count(self, line: str) -> int:
        return self.heard.count(line)


@contextmanager
def systemd_at(address: str):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as receiver:
        receiver.bind("\0" + address[1:] if address.startswith("@") else address)
        yield Systemd(receiver, address)


@pytest.fixture
def systemd(tmp_path):
    with systemd_at(str(tmp_path / "notify")) as manager:
        yield manager


@pytest.mark.parametrize("kind", ["a file", "abstract"])
def test_a_run_says_ready_beats_through_a_long_job_and_says_stopping(
    launch, queue, tasks, let_go, noted, tmp_path, kind
):
    address = str(tmp_path / "notify") if kind == "a file" else f"@nightshift-{uuid.uuid4()}"
    queue.enqueue("held", {})
    with systemd_at(address) as systemd:
        run = launch("--workers", 1, "--tasks", tasks, **systemd.variables)
        wait_until(lambda: noted("begun"), "the job has begun")
        beats = systemd.count("WATCHDOG=1")
        wait_until(lambda: systemd.count("WATCHDOG=1") >= beats + 3, "it beats meanwhile")
        assert "STOPPING=1" not in systemd.heard
        let_go()
        assert run.wait() == 0
        heard = systemd.heard

    assert heard[0] == "READY=1"
    assert heard.count("READY=1") == heard.count("STOPPING=1") == 1
    assert any(line.startswith("STATUS=0 done, 0 failed, 1 left") for line in heard)
    assert heard.index("STOPPING=1") > heard.index("WATCHDOG=1")


def test_a_run_that_is_stopped_says_so_at_once_and_beats_on(
    launch, queue, tasks, let_go, noted, systemd
):
    queue.enqueue("held", {})
    run = launch("--workers", 1, "--tasks", tasks, **systemd.variables)
    wait_until(lambda: noted("begun"), "the job has begun")
    run.signal(signal.SIGTERM)
    wait_until(lambda: systemd.count("STOPPING=1"), "it says that it stops")
    beats = systemd.count("WATCHDOG=1")
    wait_until(lambda: systemd.count("WATCHDOG=1") > beats, "its loop lives until the job is done")
    let_go()

    assert run.wait() == 0


def test_a_loop_that_stands_still_feeds_no_watchdog(launch, queue, tasks, let_go, systemd):
    queue.enqueue("held", {})
    run = launch("--workers", 1, "--tasks", tasks, **systemd.variables)
    wait_until(lambda: systemd.count("WATCHDOG=1"), "it beats")
    run.signal(signal.SIGSTOP)
    beats = systemd.count("WATCHDOG=1")
    with pytest.raises(AssertionError):
        wait_until(lambda: systemd.count("WATCHDOG=1") > beats + 1, "a beat", seconds=2)
    run.signal(signal.SIGCONT)
    let_go()

    assert run.wait() == 0


def test_no_worker_driver_or_browser_sees_the_variables(launch, queue, tmp_path, systemd):
    tasks = shutil.copy(PRYING_TASKS, tmp_path / "prying.py")
    queue.enqueue("pry", {})
    run = launch("--workers", 1, "--tasks", tasks, **systemd.variables)

    assert run.wait() == 0
    seen = {line.partition("=")[0] for line in json.loads((tmp_path / "seen.json").read_text())}
    assert "PATH" in seen
    assert not seen & VARIABLES


def test_a_run_that_leaves_the_work_to_another_is_ready_before_it_ends(
    launch, queue, tasks, let_go, noted, systemd
):
    queue.enqueue("held", {})
    other = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the other run is at work")
    assert launch("--workers", 1, **systemd.variables).wait() == 0
    let_go()

    assert other.wait() == 0
    assert systemd.count("READY=1") == 1
    assert any("is at work on this database" in line for line in systemd.heard)


def test_a_run_that_cannot_begin_is_never_ready(launch, closed_port, systemd):
    away = f"mysql://nobody@127.0.0.1:{closed_port}/nightshift"

    assert launch("--workers", 1, DATABASE_URL=away, **systemd.variables).wait() == 69
    assert "READY=1" not in systemd.heard
