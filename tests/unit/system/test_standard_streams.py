"""Whoever shares our stdout and stderr, they can be written to, and a closed terminal is left."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from worker.system import standard_streams

REPO = Path(__file__).parents[3]


def run(program: str, **how: object) -> int:
    """Run some Python with this project's modules; return its exit code."""
    return subprocess.run([sys.executable, "-c", program], cwd=REPO, check=False, **how).returncode


def test_a_pipe_that_somebody_made_non_blocking_takes_a_long_text_again():
    reader, writer = os.pipe()
    try:
        os.set_blocking(writer, False)
        program = (
            "from worker.system import standard_streams as s; import os; s.make_blocking(); "
            "assert os.get_blocking(1) and os.get_blocking(2)"
        )

        assert run(program, stdout=writer, stderr=writer) == 0
        assert os.get_blocking(writer)
    finally:
        os.close(reader)
        os.close(writer)


def test_streams_that_a_task_has_closed_are_no_error():
    program = (
        "from worker.system import standard_streams as s; import os; "
        "os.close(1); os.close(2); s.make_blocking(); s.leave_closed_terminal()"
    )

    assert run(program) == 0


def test_a_closed_terminal_is_left_and_a_file_is_kept(tmp_path: Path):
    near, far = pty.openpty()
    program = (
        "import sys; from worker.system import standard_streams as s; sys.stdin.readline(); "
        "s.leave_closed_terminal(); print('to nobody', file=sys.stderr); print('to the file')"
    )
    with (tmp_path / "out").open("wb") as out:
        child = subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=REPO,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=far,
            start_new_session=True,
        )
    os.close(far)
    os.close(near)
    child.communicate(b"the terminal is closed\n")

    assert child.returncode == 0
    assert (tmp_path / "out").read_text() == "to the file\n"


def test_what_is_silenced_goes_nowhere():
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    standard_streams.silence(writer)

    assert os.write(writer, b"x") == 1
    assert os.read(reader, 1) == b""
    os.close(reader)
    os.close(writer)
