"""Commands of `launcher.py`, each a fork of one Python that has imported them all.

They are the real commands in processes of their own, without half a second of imports each. What
belongs to Python's own start (its variables, the language) needs a Python of its own.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import cache
from pathlib import Path

REPO = Path(__file__).parents[1]
# These make trees of processes, in which every one is known by its own start.
WITH_A_TREE = {"run", "demo", "drill", "dashboard", "db", "watch"}
OF_PYTHONS_START = ("PYTHON", "LANG", "LC_")
MOST_BYTES = 1 << 20


def can_run(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Say whether a fork would do the same as a Python of its own."""
    return (
        bool(arguments)
        and not arguments[0].startswith("-")
        and arguments[0] not in WITH_A_TREE
        and _of_start(environment) == _of_start(os.environ)
    )


def run(
    arguments: Sequence[str], environment: Mapping[str, str], stdin: bytes, timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, as `subprocess.run` would."""
    with ExitStack() as stack:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stack.enter_context(closing(ours))
        pipes = [os.pipe() for _ in range(3)]
        (in_read, in_write), (out_read, out_write), (err_read, err_write) = pipes
        request = json.dumps({"arguments": [*arguments], "environment": {**environment}})
        given = [in_read, out_write, err_write, theirs.fileno()]
        socket.send_fds(_python(), [request.encode()], given)
        theirs.close()
        for number in given[:3]:
            os.close(number)
        threads = stack.enter_context(ThreadPoolExecutor(3))
        threads.submit(_write, in_write, stdin)
        out, err = (threads.submit(_read, number) for number in (out_read, err_read))
        ours.settimeout(timeout)
        process = int(ours.recv(64))
        try:
            code = int(ours.recv(64))
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired([*arguments], timeout) from None
        return subprocess.CompletedProcess([*arguments], code, out.result(), err.result())


@cache
def _python() -> socket.socket:
    """Start the Python that is forked, once; it ends when this process does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.prepared_python", str(theirs.fileno())],
            cwd=REPO,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _of_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(OF_PYTHONS_START)}


def _write(number: int, data: bytes) -> None:
    with suppress(BrokenPipeError), open(number, "wb") as file:
        file.write(data)


def _read(number: int) -> bytes:
    with open(number, "rb") as file:
        return file.read()


def serve(link: socket.socket) -> None:
    """Fork for each request; return in the fork, which then is the command."""
    from worker.cli.main import MODULES

    for module in set(MODULES.values()):
        importlib.import_module(f"worker.cli.{module}")
    while True:
        request, files, _, _ = socket.recv_fds(link, MOST_BYTES, 4)
        if not request:
            sys.exit()
        if os.fork() == 0:
            _become(json.loads(request), files)
            return
        for number in files:
            os.close(number)
        _reap()


def _reap() -> None:
    """Let go of the forks that have waited for their command."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(request: dict[str, list[str] | dict[str, str]], files: list[int]) -> None:
    """Be the command in one more fork; wait for it here, and tell how it ended."""
    answer = socket.socket(fileno=files[3])
    if process := os.fork():
        answer.send(str(process).encode())
        for number in files[:3]:
            os.close(number)
        _, status = os.waitpid(process, 0)
        answer.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    for place, number in enumerate(files[:3]):
        os.dup2(number, place)
    answer.detach()
    os.closerange(3, max(files) + 1)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    # Whatever was read or written before them was not this command's.
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    sys.argv = ["launcher.py", *request["arguments"]]


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_path(str(REPO / "launcher.py"), run_name="__main__")
