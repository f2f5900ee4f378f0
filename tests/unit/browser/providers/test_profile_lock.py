"""A lock in a profile's folder goes when it is provably stale, and stays in every other case."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.browser.providers.profile_lock import LOCK, browsers_using, make_sure_unused
from worker.errors import ProviderError

WAIT = "import sys; print(flush=True); sys.stdin.read()"


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    (tmp_path / "SingletonSocket").symlink_to("/nowhere")
    return tmp_path / LOCK


@pytest.fixture
def start() -> Iterator[object]:
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> int:
        # The name of a program is what it was called as, so this one passes for a browser.
        program = [arguments[0], "-c", WAIT, *arguments[1:]]
        process = subprocess.Popen(
            program,
            executable=sys.executable,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        started.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.communicate()


def dead_pid() -> int:
    process = subprocess.Popen(["/bin/true"])
    process.wait()
    return process.pid


def check(folder: Path) -> None:
    make_sure_unused(folder, "profile 7 (local)", "local")


def refused(folder: Path) -> str:
    with pytest.raises(ProviderError) as caught:
        check(folder)
    assert caught.value.kind == "already_running"
    assert caught.value.provider == "local"
    return str(caught.value)


def test_a_folder_without_a_lock_is_free(tmp_path):
    check(tmp_path)
    check(tmp_path / "not-there-yet")


def test_the_lock_of_a_dead_process_is_removed_with_what_belongs_to_it(lock, tmp_path):
    lock.symlink_to(f"{socket.gethostname()}-{dead_pid()}")
    check(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_a_pid_that_another_program_has_got_since_holds_nothing(lock, tmp_path):
    lock.symlink_to(f"{socket.gethostname()}-{os.getpid()}")
    check(tmp_path)

    assert not lock.is_symlink()


def test_a_browser_in_another_folder_does_not_hold_this_one(lock, tmp_path, start):
    pid = start("chromium", f"--user-data-dir={tmp_path}/other")
    lock.symlink_to(f"{socket.gethostname()}-{pid}")
    check(tmp_path)

    assert not lock.is_symlink()


def test_the_lock_of_a_running_browser_stays_and_the_error_names_it(lock, tmp_path, start):
    pid = start("/usr/lib/chromium/chromium")
    lock.symlink_to(f"{socket.gethostname()}-{pid}")

    assert f"process {pid}" in refused(tmp_path)
    assert lock.is_symlink()


def test_a_browser_that_takes_no_lock_is_found_all_the_same(tmp_path, start):
    (tmp_path / "profile").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "profile")
    pid = start("chromium-headless-shell", f"--user-data-dir={tmp_path}/profile")

    assert f"process {pid}" in refused(tmp_path / "link")
    assert [user.pid for user in browsers_using(tmp_path / "profile")] == [pid]
    assert browsers_using(tmp_path) == []


def test_the_lock_of_another_machine_stays(lock, tmp_path):
    lock.symlink_to("some-other-host-4711")
    message = refused(tmp_path)

    assert "4711 on some-other-host" in message
    assert str(lock) in message
    assert lock.is_symlink()


@pytest.mark.parametrize("target", ["nonsense", "host-", "-"])
def test_a_lock_that_cannot_be_read_stays(lock, tmp_path, target):
    lock.symlink_to(target)
    refused(tmp_path)

    assert lock.is_symlink()
