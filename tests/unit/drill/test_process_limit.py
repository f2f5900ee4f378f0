"""A machine without room for another process, and with room again afterwards."""

from __future__ import annotations

import subprocess
import sys

import pytest

from worker.drill import process_limit
from worker.drill.strike import NoTarget

# For every line it reads, tells whether it could start a process.
FORKS = """
import os, sys
for _ in sys.stdin:
    try:
        pid = os.fork()
    except BlockingIOError:
        print("refused", flush=True)
        continue
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    print("forked", flush=True)
"""

pytestmark = pytest.mark.skipif(
    not process_limit.is_available(), reason="this user cannot make a control group here"
)


def test_one_process_cannot_fork_until_the_fault_is_undone():
    with subprocess.Popen(
        [sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None

        def try_it() -> str:
            print(file=program.stdin, flush=True)
            return program.stdout.readline().strip()

        assert try_it() == "forked"
        with process_limit.no_new_processes(program.pid):
            assert try_it() == "refused"
            # Everybody else can.
            assert subprocess.run(["true"], check=False).returncode == 0
        assert try_it() == "forked"
        program.stdin.close()


def test_a_process_that_has_ended_is_no_target_and_leaves_no_group():
    gone = subprocess.Popen(["true"])
    gone.wait()

    with pytest.raises(NoTarget), process_limit.no_new_processes(gone.pid):
        pass

    assert process_limit.is_available()
