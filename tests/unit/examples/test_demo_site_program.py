"""The demo site as a program: says where it is, stops quietly, leaves nothing behind."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from examples.demo_site import serve

REPOSITORY = Path(__file__).resolve().parents[3]
BY_MODULE = ["-m", "examples.demo_site"]
BY_DIRECTORY = [str(REPOSITORY / "examples" / "demo_site")]


@pytest.mark.parametrize("command", [BY_MODULE, BY_DIRECTORY], ids=["module", "directory"])
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_the_program_says_its_url_first_and_stops_quietly(
    command: list[str], stop: signal.Signals, tmp_path: Path
) -> None:
    port_file = tmp_path / "port"
    with started(*command, "--port", "0", "--port-file", str(port_file)) as site:
        assert site.stdout is not None
        base_url = site.stdout.readline().strip()
        assert base_url == f"http://127.0.0.1:{port_file.read_text().strip()}"
        assert answers(base_url)
        site.send_signal(stop)
        rest, errors = site.communicate(timeout=30)
    assert (site.returncode, rest, errors) == (0, "", "")
    assert not port_file.exists()


def test_a_port_that_is_taken_is_one_clear_line() -> None:
    with serve() as base_url:
        port = base_url.rpartition(":")[2]
        with started(*BY_MODULE, "--port", port) as site:
            out, errors = site.communicate(timeout=30)
    assert (site.returncode, out) == (1, "")
    assert errors.startswith(f"demo site: cannot serve on port {port}: ")
    assert errors.count("\n") == 1


def test_the_program_ends_with_its_parent_if_asked_to() -> None:
    with orphaned("--exit-with-parent") as base_url:
        wait_until(lambda: not answers(base_url))


def test_the_program_outlives_its_parent_unless_asked_otherwise() -> None:
    with orphaned() as base_url:
        assert answers(base_url)


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def orphaned(*options: str) -> Iterator[str]:
    """Start the site under a parent, kill the parent when it serves, and yield its address."""
    parent_code = (
        "import subprocess, sys\n"
        "site = subprocess.Popen([sys.executable, *sys.argv[1:]])\n"
        "print(site.pid, flush=True)\n"
        "site.wait()\n"
    )
    with started("-c", parent_code, *BY_MODULE, *options) as parent:
        assert parent.stdout is not None
        site_pid = int(parent.stdout.readline())
        try:
            base_url = parent.stdout.readline().strip()
            assert answers(base_url)
            parent.kill()
            parent.wait(timeout=10)
            yield base_url
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(site_pid, signal.SIGKILL)


def answers(base_url: str) -> bool:
    link = http.client.HTTPConnection(base_url.removeprefix("http://"), timeout=10)
    with contextlib.closing(link):
        try:
            link.request("GET", "/robots.txt")
            return link.getresponse().status == 200
        except ConnectionError:
            return False


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.02)
