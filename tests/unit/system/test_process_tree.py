"""Processes are found and ended by what they are, never by a number that may be reused."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.system import process_tree
from worker.system.process_tree import ProcessId


@pytest.fixture
def start() -> Iterator[object]:
    started: list[subprocess.Popen[bytes]] = []

    def run(*command: str, **options: object) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
        started.append(child)
        return child

    yield run
    for child in started:
        child.kill()
        child.wait()
        child.stdout.close()


def identify(pid: int) -> ProcessId:
    found = process_tree.identify(pid)
    assert found is not None
    return found


def test_a_name_with_spaces_and_parentheses_is_read(start, tmp_path: Path):
    odd = tmp_path / "a) R 1 (b c"
    shutil.copy(shutil.which("sleep"), odd)
    child = start(str(odd), "60")
    deadline = time.monotonic() + 5
    while (stat := process_tree.read_stat(child.pid)).name != odd.name:
        assert time.monotonic() < deadline
        time.sleep(0.01)

    assert stat.parent == os.getpid()
    assert stat.state in "SRD"


def test_a_line_that_is_cut_short_is_no_process():
    assert process_tree.parse_stat(b"") is None
    assert process_tree.parse_stat(b"12 (x) S 1 2") is None


def test_a_pid_that_nobody_has_is_no_process():
    assert process_tree.identify(2**22 + 1) is None


def test_a_reused_pid_is_never_killed(start):
    child = start("sleep", "60", start_new_session=True)
    other = ProcessId(child.pid, identify(child.pid).start_time - 1)

    assert not process_tree.is_alive(other)
    assert not process_tree.kill(other)
    assert not process_tree.kill_group(other)
    assert process_tree.kill_tree(other) == 0
    assert child.poll() is None


def test_a_zombie_is_not_alive(start):
    child = start("sleep", "60")
    process = identify(child.pid)
    os.kill(child.pid, signal.SIGKILL)

    assert process_tree.wait_dead([process], 5)
    assert process_tree.read_stat(child.pid).state == "Z"
    assert not process_tree.kill(process)


def test_descendants_are_children_and_their_children(start):
    child = start("sh", "-c", "sh -c 'echo up; sleep 60; :'; :")
    child.stdout.readline()
    deadline = time.monotonic() + 5
    # The inner shell is there before `sleep` is, and for a moment `sleep` is still a shell.
    while (names := [stat.name for stat in process_tree.descendants(child.pid)]) != ["sh", "sleep"]:
        assert time.monotonic() < deadline, names
        time.sleep(0.01)

    assert child.pid in [stat.pid for stat in process_tree.descendants(os.getpid())]
    assert process_tree.kill_tree(identify(child.pid)) == 3


def test_a_group_is_killed_even_when_its_leader_is_dead(start):
    leader = start(
        sys.executable,
        "-c",
        "import os, sys, time\n"
        "child = os.fork()\n"
        "if child: print(child, flush=True); os.kill(os.getpid(), 9)\n"
        "time.sleep(60)",
        start_new_session=True,
    )
    group = identify(leader.pid)
    orphan = identify(int(leader.stdout.readline()))
    leader.wait()

    assert process_tree.group_members(group) == [orphan]
    assert process_tree.kill_group(group)
    assert process_tree.wait_dead([orphan], 5)
    assert not process_tree.kill_group(group)


def test_ones_own_group_is_not_taken_for_a_leaders(start):
    child = start("sleep", "60")

    assert not process_tree.kill_group(identify(child.pid))
    assert child.poll() is None


def test_memory_is_counted_without_what_is_shared(start):
    child = start(
        sys.executable, "-c", "x = bytearray(64 << 20); print(1, flush=True); input()",
        stdin=subprocess.PIPE,
    )  # fmt: skip
    child.stdout.readline()

    assert 60 < process_tree.memory_mb([child.pid]) < 120
    assert process_tree.memory_mb([2**22 + 1]) == 0
    child.stdin.close()
