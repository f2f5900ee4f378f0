from __future__ import annotations

import os
import re
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
SET_UP_FILES = ("requirements.lock", "pyproject.toml", "Makefile")


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9_.-]", requirement)[0].lower().replace("_", "-")


def test_the_lock_pins_every_dependency_with_a_hash() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    entries = re.split(r"\n(?=\S)", (REPO / "requirements.lock").read_text())
    pinned = {name_of(entry): entry for entry in entries if not entry.startswith("#")}
    assert {name_of(requirement) for requirement in wanted} <= pinned.keys()
    assert all("==" in entry and "--hash=sha256:" in entry for entry in pinned.values())


def test_no_set_up_file_names_a_host() -> None:
    for path in (*map(REPO.joinpath, SET_UP_FILES), *REPO.glob("deploy/*.sh")):
        assert "://" not in path.read_text(), path


def test_make_lists_its_targets_without_any_set_up() -> None:
    shown = subprocess.run(["make"], cwd=REPO, capture_output=True, check=True, text=True).stdout
    for target in (
        "setup",
        "run",
        "test",
        "test-mysql",
        "test-fresh",
        "check",
        "sweep",
        "status",
        "clean",
    ):
        assert f"make {target} " in shown


def test_a_missing_browser_is_one_line_with_its_remedy_and_exit_69() -> None:
    answer = subprocess.run(
        ["deploy/setup.sh"],
        cwd=REPO,
        env={"PATH": "/usr/bin:/bin", "NIGHTSHIFT_BROWSER": "/no/such/browser"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert answer.returncode == 69
    line = "setup: missing NIGHTSHIFT_BROWSER=/no/such/browser does not run: mend or unset it\n"
    assert answer.stderr == line


@pytest.fixture
def programs(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Put shell scripts before all other programs; gives the environment that finds them."""

    def write(**scripts: str) -> dict[str, str]:
        for name, script in scripts.items():
            path = tmp_path / name.replace("_", "-")
            path.write_text(f"#!/bin/bash\n{script}\n")
            path.chmod(0o755)
        return {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": "/", "TMPDIR": str(tmp_path)}

    return write


def test_a_fresh_system_without_root_is_one_line_and_exit_69(programs) -> None:
    answer = subprocess.run(
        ["deploy/test-fresh.sh"],
        cwd=REPO,
        env=programs(id="echo 1000"),
        capture_output=True,
        check=False,
        text=True,
    )
    assert answer.returncode == 69
    assert answer.stderr == "test-fresh: needs root, to mount and chroot\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_fresh_system_leaves_no_process_mount_or_folder(programs, tmp_path, end):
    making_a_system = f"""
        root=${{*: -2:1}}
        mkdir -p $root/mnt && mount -t tmpfs tmpfs $root/mnt && echo mounted
        exec -a {tmp_path}/sleep sleep 7200"""
    environment = programs(apt_get="echo mirror/debian", debootstrap=making_a_system)
    script = subprocess.Popen(
        ["deploy/test-fresh.sh"],
        cwd=REPO,
        env=environment,
        stderr=subprocess.PIPE,
        # Tests that run in the background of a shell are deaf to Ctrl-C, and so are their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    deadline = time.monotonic() + 30
    while not has_mounted(tmp_path) and script.poll() is None:
        assert time.monotonic() < deadline, "nothing was mounted"
        time.sleep(0.02)
    script.send_signal(end)
    script.communicate(timeout=30)

    assert script.returncode == 130
    assert list(tmp_path.glob("nightshift-fresh.*")) == []
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    assert [line for line in command_lines() if str(tmp_path) in line] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_fresh_system_that_fails_is_removed_and_its_exit_code_kept(programs, tmp_path):
    environment = programs(apt_get="echo mirror/debian", debootstrap="echo no mirror; exit 1")
    answer = subprocess.run(
        ["deploy/test-fresh.sh"],
        cwd=REPO,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    assert answer.stderr.endswith("no mirror\ntest-fresh: debootstrap failed\n")
    assert answer.returncode == 69
    assert list(tmp_path.glob("nightshift-fresh.*")) == []


def has_mounted(folder: Path) -> bool:
    return any("mounted" in log.read_text() for log in folder.glob("nightshift-fresh.*/root.log"))


def command_lines() -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_text(errors="replace")
