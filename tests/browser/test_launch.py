"""A browser that cannot be started is one clear line, and leaves no process behind."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from worker.browser.options import BrowserOptions
from worker.browser.session import BrowserSession
from worker.errors import LaunchFailed
from worker.system import process_tree


def processes_of(program: Path) -> list[process_tree.ProcessId]:
    """Whatever runs the program, orphans included."""
    found = []
    for stat in process_tree.all_processes():
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{stat.pid}/cmdline").read_bytes()
            if str(program).encode() in command:
                found.append(stat.id)
    return found


@pytest.mark.parametrize(
    ("program", "complaint", "seconds"),
    [
        ("#!/bin/sh\necho 'x: error while loading shared libraries: libnss3.so: no' >&2; exit 127",
         "libnss3.so", 30),
        ("#!/bin/sh\nexit 1", "does not start", 30),
        ("#!/bin/sh\nsleep 60", "does not start", 3),
        (None, "make setup", 30),
    ],
    ids=["library missing", "ends at once", "never answers", "not there"],
)  # fmt: skip
def test_a_failed_launch_is_one_line_with_a_remedy(
    only_session, tmp_path: Path, program: str | None, complaint: str, seconds: float
):
    only_session.close()
    browser = tmp_path / "browser"
    if program is not None:
        browser.write_text(program)
        browser.chmod(0o755)
    tmp_dir = tmp_path / "tmp"
    session = BrowserSession(
        BrowserOptions(tmp_dir, executable=str(browser), launch_timeout_seconds=seconds)
    )
    try:
        with pytest.raises(LaunchFailed, match=complaint) as caught:
            session.open()
    finally:
        session.close()
    assert "\n" not in str(caught.value)
    assert process_tree.wait_dead(processes_of(browser), 10)


def test_a_driver_that_never_answers_fails_the_launch(
    only_session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    only_session.close()
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\nwhile :; do sleep 0.1; done\n")
    node.chmod(0o755)
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(node))
    session = BrowserSession(BrowserOptions(tmp_dir=tmp_path / "tmp", launch_timeout_seconds=1))
    try:
        with pytest.raises(LaunchFailed, match="driver does not start"):
            session.open()
    finally:
        session.close()
    assert process_tree.find_driver(os.getpid()) is None


def test_what_a_driver_said_before_it_died_is_told(
    only_session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    only_session.close()
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho 'node: GLIBC_2.99 not found' >&2\nexit 1\n")
    node.chmod(0o755)
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(node))
    session = BrowserSession(BrowserOptions(tmp_dir=tmp_path / "tmp", launch_timeout_seconds=5))
    try:
        with pytest.raises(
            LaunchFailed, match=r"driver does not start \(node: GLIBC_2.99 not found"
        ):
            session.open()
    finally:
        session.close()


def test_the_driver_leaves_our_own_stderr_alone(session):
    driver = session.processes()[0]
    assert driver is not None

    theirs = Path(f"/proc/{driver.pid}/fd/2").resolve()

    assert theirs == (session.options.tmp_dir / "driver.log").resolve()


def test_a_temporary_folder_that_cannot_be_made_fails_the_launch(only_session, tmp_path: Path):
    only_session.close()
    (tmp_path / "file").write_text("")
    session = BrowserSession(BrowserOptions(tmp_dir=tmp_path / "file" / "tmp"))

    with pytest.raises(LaunchFailed, match="cannot write to"):
        session.open()
