"""A browser is started without our secrets, and a failed start is one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from worker.browser.launch import explain, launch_failure, public_environment
from worker.browser.options import BrowserOptions


def test_the_browsers_environment_has_no_secret(tmp_path: Path):
    ours = {
        "PATH": "/bin", "DATABASE_URL": "x", "MYSQL_PASSWORD": "x", "MYSQL_HOST": "x",
        "NIGHTSHIFT_ANY": "x", "AWS_SECRET_ACCESS_KEY": "x", "GITHUB_TOKEN": "x", "LANG": "C",
    }  # fmt: skip
    theirs = public_environment(ours, tmp_path)

    assert "x" not in theirs.values()
    assert theirs["PATH"] == "/bin"
    assert theirs["TMPDIR"] == str(tmp_path)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("x\nchrome: error while loading shared libraries: libnss3.so: cannot open", "libnss3.so"),
        ("Executable doesn't exist at /x", "make setup"),
        ("spawn /x EACCES", "may not be executed"),
        ("[FATAL:zygote] No usable sandbox!", "user namespaces"),
        ("[FATAL:namespace_sandbox.cc] Check failed: sandbox", "user namespaces"),
        ("chromium --no-sandbox\n[FATAL:process_singleton_posix.cc:315] Socket path too long: /x",
         "whose path is too long: choose a shorter NIGHTSHIFT_STATE_DIR"),
        ("chromium --no-sandbox\n[FATAL:memory.cc] out of luck", "does not start"),
        ("Looks like you launched a headed browser without having a XServer. Missing X server",
         "DISPLAY"),
        ("\n\n  strange \nthings", r"does not start \(strange\)"),
    ],
)  # fmt: skip
def test_a_failed_launch_is_explained_in_one_line(message: str, words: str, tmp_path: Path):
    line = explain(message, BrowserOptions(tmp_dir=tmp_path))

    assert re.search(words, line)
    assert "\n" not in line


@pytest.mark.parametrize(
    ("message", "is_passing"),
    [
        ("spawn /usr/bin/chromium EAGAIN", True),
        ("[err] pthread_create: Resource temporarily unavailable (11)", True),
        ("write: No space left on device", True),
        ("spawn /usr/bin/chromium EACCES", False),
        ("Executable doesn't exist at /x", False),
    ],
)
def test_a_machine_that_is_short_of_something_is_told_from_a_broken_one(
    message: str, is_passing: bool, tmp_path: Path
):
    failure = launch_failure(message, BrowserOptions(tmp_dir=tmp_path))

    assert failure.is_passing is is_passing
    assert ("tried again" in str(failure)) is is_passing
