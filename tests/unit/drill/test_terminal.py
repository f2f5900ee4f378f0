"""A closed terminal is felt as in life: by what is written to it, and by its session's leader."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from worker.drill.terminal import Terminal

# Shows something again and again, and tells how that ended.
SHOWN = """
import os, sys, time
try:
    while True:
        os.write(1, b"shown")
        time.sleep(0.02)
except OSError as error:
    open(sys.argv[1], "w").write(f"errno {error.errno}")
"""


@pytest.fixture
def on_terminal(tmp_path):
    """Start a program on a terminal of its own, and close that once something was shown."""

    def run(*leader: str) -> tuple[int, Path]:
        told = tmp_path / "told"
        with (tmp_path / "log").open("wb") as log:
            terminal = Terminal(log)
            program = subprocess.Popen(
                [*leader, sys.executable, "-c", SHOWN, told],
                stdin=terminal.slave,
                stdout=terminal.slave,
                start_new_session=not leader,
            )
            terminal.hand_over()
            deadline = time.monotonic() + 20
            while b"shown" not in (tmp_path / "log").read_bytes():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            terminal.close()
            return program.wait(timeout=20), told

    return run


def test_whoever_writes_to_a_closed_terminal_gets_an_error(on_terminal):
    code, told = on_terminal()

    assert (code, told.read_text()) == (0, "errno 5")


def test_the_leader_of_its_session_is_sent_a_signal(on_terminal):
    code, told = on_terminal("setsid", "--ctty")

    assert code == -1
    assert not told.exists()
