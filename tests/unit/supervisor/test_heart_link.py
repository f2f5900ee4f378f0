"""What the launcher tells the heart arrives whole, however long it is, and again if it was lost."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from worker.database_settings import DatabaseSettings
from worker.settings import RunSettings
from worker.supervisor.heart import Heart
from worker.supervisor.heart_link import HeartLink, parse_messages
from worker.supervisor.slot import REPORTED_CHARACTERS, last_of
from worker.system.board import Board

# Later Pythons warn of forks beside threads, which other tests may have left running.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

LONG = {"incarnation": 7, "output": ["Ошибка: " + "ж" * 2000] * 100}


def slow_heart(link: socket.socket) -> Callable[[], int]:
    """A heart that begins to listen late, answers every whole message and ends with its link."""

    def main() -> int:
        time.sleep(0.3)
        data = b""
        while part := link.recv(65536):
            *lines, data = (data + part).split(b"\n")
            for message in map(json.loads, lines):
                assert message["output"] == LONG["output"]
                link.sendall(json.dumps({"ack": message["number"]}).encode() + b"\n")
        return 0

    return main


@pytest.fixture
def link() -> Iterator[HeartLink]:
    link = HeartLink(slow_heart, output=2)
    yield link
    if link.pid:
        os.kill(link.pid, signal.SIGKILL)
        os.waitpid(link.pid, 0)
    link.died()


def turn(link: HeartLink) -> None:
    """Do what the launcher's loop does for the heart."""
    fd = link.fileno()
    select.select([fd], [fd] if link.has_unsent else [], [], 0.2)
    link.send()
    link.listen()


def test_reports_longer_than_a_socket_takes_arrive_whole(link):
    link.start_if_dead()
    for _ in range(3):
        link.report_death(LONG)
    assert link.has_unsent

    deadline = time.monotonic() + 20
    while link._unanswered and time.monotonic() < deadline:
        turn(link)

    assert not link._unanswered


def test_a_heart_that_is_stopped_hears_the_end_of_what_it_was_told(link):
    link.start_if_dead()
    link.report_death(LONG)

    link.stop(seconds=20)

    assert not link._unanswered


def test_the_next_heart_is_told_all_that_the_dead_one_did_not_answer(link):
    link.start_if_dead()
    link.report_death(LONG)
    os.kill(link.pid, signal.SIGKILL)
    os.waitpid(link.pid, 0)
    link.died()
    link.report_death(LONG)

    deadline = time.monotonic() + 20
    while (link._unanswered or not link.pid) and time.monotonic() < deadline:
        link.start_if_dead()
        if link.pid:
            turn(link)

    assert not link._unanswered


def test_a_broken_message_is_passed_over(caplog):
    lines = [b'{"number": 1}', b'{"number": 2, "out', b"5", b"\xff", b'{"number": 3}']

    assert [message["number"] for message in parse_messages(lines)] == [1, 3]
    assert "a broken message" in caplog.text


def test_a_heart_goes_on_after_a_broken_message():
    ours, theirs = socket.socketpair()
    settings = RunSettings(database=DatabaseSettings(), workers=1, total=1)
    heart = Heart(settings, Board(1), 1, theirs, None)
    ours.sendall(b'{"number": 1, "out\n{"number": 2}\n')

    heart._listen()

    assert heart._deaths == [{"number": 2}]
    ours.close()
    theirs.close()


def test_a_report_holds_the_last_lines_up_to_a_bound():
    kept = last_of(LONG["output"], REPORTED_CHARACTERS)

    assert 0 < sum(map(len, kept)) <= REPORTED_CHARACTERS
    assert last_of(["a", "bb", "ccc"], 5) == ["bb", "ccc"]
    assert last_of(["a"], 5) == ["a"]
