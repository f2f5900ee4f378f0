"""The seccomp profile for containers: under it Chromium works, in its sandbox."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests import user_namespaces
from tests.lifecycle.conftest import REPO
from tests.user_namespaces import NOBODY

PROFILE = REPO / "worker" / "cli" / "templates" / "project" / "docker" / "seccomp.json"
# What `docker run --security-opt seccomp=… --security-opt no-new-privileges` does, then one page.
LOOK = """
import ctypes, json, os, sys
from pathlib import Path
from playwright.sync_api import sync_playwright
from worker.browser import sandbox
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.session import BrowserSession

(rule,) = json.loads(Path(sys.argv[1]).read_text())["syscalls"]
os.setgroups([]); os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[3]))
os.environ["HOME"] = sys.argv[2]
library = ctypes.CDLL("libseccomp.so.2")
library.seccomp_init.restype = ctypes.c_void_p
allow, errno = 0x7fff0000, 0x00050000 | rule["errnoRet"]
context = ctypes.c_void_p(library.seccomp_init(allow))
for name in rule["names"]:
    number = library.seccomp_syscall_resolve_name(name.encode())
    assert library.seccomp_rule_add(context, errno, number, 0) == 0, name
assert library.seccomp_load(context) == 0
assert ctypes.CDLL(None, use_errno=True).mount(b"none", b"/tmp", b"tmpfs", 0, 0) == -1
session = BrowserSession(BrowserOptions(tmp_dir=Path(sys.argv[2]), executable=find_browser()))
session.open()
try:
    page = session.page_for_job()
    page.goto("data:text/html,<h1>hello</h1>")
    print(page.locator("h1").inner_text(), sandbox.describe(os.getpid()), flush=True)
finally:
    session.close()
"""


def test_chromium_has_its_sandbox_under_the_profile():
    if os.geteuid() != 0:
        pytest.skip("only root can become an ordinary user")
    if shutil.which("chromium-headless-shell") is None:
        pytest.skip("the downloaded browser is in root's own folder")
    user_namespaces.require()
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("there is no libseccomp")
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, NOBODY, NOBODY)
        shutil.copy(PROFILE, Path(folder) / "seccomp.json")
        done = subprocess.run(
            [sys.executable, "-c", LOOK, f"{folder}/seccomp.json", folder, str(NOBODY)],
            cwd=REPO,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert (done.returncode, done.stdout) == (0, "hello its sandbox is on\n"), done.stderr
