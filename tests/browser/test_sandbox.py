"""Chromium's sandbox as it really is: on for an ordinary user, off for root, and said so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile

import pytest

from tests import user_namespaces
from tests.lifecycle.conftest import REPO, run_command
from tests.user_namespaces import NOBODY

# The first browser is root's: an ordinary user might not be allowed to read the modules it loads.
LOOK_TWICE = """
import os, sys
from pathlib import Path
from worker.browser import sandbox
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.session import BrowserSession

def look(folder):
    session = BrowserSession(BrowserOptions(tmp_dir=Path(folder), executable=find_browser()))
    session.open()
    try:
        session.page_for_job().set_content("<p>hello")
        print(sandbox.describe(os.getpid()), flush=True)
    finally:
        session.close()

look(sys.argv[1])
os.setgroups([])
os.setgid(int(sys.argv[3]))
os.setuid(int(sys.argv[3]))
os.environ["HOME"] = sys.argv[2]
look(sys.argv[2])
"""


def needs_an_ordinary_user() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become an ordinary user")
    if shutil.which("chromium-headless-shell") is None:
        pytest.skip("the downloaded browser is in root's own folder")
    user_namespaces.require()


def test_an_ordinary_user_has_it_and_root_has_not(tmp_path):
    needs_an_ordinary_user()
    # Not within root's own folder, where pytest keeps the others.
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, NOBODY, NOBODY)
        done = subprocess.run(
            [sys.executable, "-c", LOOK_TWICE, tmp_path, folder, str(NOBODY)],
            cwd=REPO,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert done.returncode == 0, done.stderr
    as_root, as_nobody = done.stdout.splitlines()
    assert as_root.startswith("its sandbox is OFF: Chromium has none for root")
    assert as_nobody == "its sandbox is on"


def test_doctor_says_whether_it_is_on_and_how_to_have_it(tmp_path):
    if os.geteuid() != 0:
        user_namespaces.require()

    done = run_command(tmp_path, "doctor", DATABASE_URL="mysql://root@127.0.0.1:1/none")

    (browser,) = [line for line in done.stdout.splitlines() if line[5:].startswith("browser: ")]
    is_root = os.geteuid() == 0
    assert ("run Nightshift as an ordinary user to have it" in browser) == is_root
    assert ("its sandbox is on" in browser) != is_root


@pytest.mark.parametrize(
    ("trial", "why"),
    [
        (("sh", "-c", "echo Operation not permitted >&2; exit 1"), "Operation not permitted"),
        (("no-such-program",), "there is no no-such-program"),
    ],
)
def test_where_user_namespaces_are_forbidden_the_sandbox_tests_are_skipped_with_the_reason(
    trial, why, monkeypatch
):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=why):
        user_namespaces.require(trial)

    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="CI has to look at the sandbox"):
        user_namespaces.require(trial)
