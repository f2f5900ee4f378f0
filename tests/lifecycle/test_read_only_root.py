"""A run as in a pod: a root file system that is read-only, little shared memory, and SIGTERM."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.lifecycle.conftest import REPO, clean_environment, url_of, wait_until

# A mount namespace of the run's own: nothing outside of it is changed, and nothing is left.
CONFINE = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mkdir -p "$1/server"
mount --bind "$3" "$1/server"
mount -o remount,bind,ro /
mount -t tmpfs -o size=64m tmpfs /dev/shm
if touch "$2/written" 2>/dev/null; then echo "the root can be written" >&2; exit 99; fi
shift 3
exec "$@"
"""


def may_confine() -> bool:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    trial = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        "mount --make-rprivate / && mount -o remount,bind,ro /",
    ]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(
    not may_confine(), reason="only root may make mount namespaces, with unshare"
)


@pytest.fixture
def tmp_path():
    """A folder on the disk: what other tests have in memory is not there in a pod."""
    folder = Path(tempfile.mkdtemp(prefix="nightshift-pod-", dir="/var/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def confined(settings, tmp_path):
    """Start a run that may write to its own folders alone."""
    started = []
    socket = Path(settings.unix_socket)
    there = replace(settings, unix_socket=str(tmp_path / "server" / socket.name))

    def confined(*arguments):
        scratch = tmp_path / "tmp"
        scratch.mkdir(exist_ok=True)
        variables = {"DATABASE_URL": url_of(there), "TMPDIR": str(scratch), "HOME": str(scratch)}
        run = subprocess.Popen(
            [
                *("unshare", "--mount", "sh", "-c", CONFINE, "sh"),
                *(str(tmp_path), str(REPO), str(socket.parent)),
                *(sys.executable, "launcher.py", *map(str, arguments)),
            ],
            cwd=REPO,
            env=clean_environment(tmp_path, **variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(run)
        return run

    yield confined
    for run in started:
        if run.poll() is None:
            run.kill()
        run.communicate(timeout=20)


def test_a_run_needs_to_write_nothing_but_its_own_folders(confined, queue, demo_site, errors_dir):
    good = queue.enqueue("visit", {"url": f"{demo_site}/products/1"})
    bad = queue.enqueue("visit", {"url": f"{demo_site}/products/999"})

    run = confined("--workers", 1)
    said, _ = run.communicate(timeout=90)

    assert run.returncode == 0, said
    assert queue.get(good)["status"] == "done", said
    assert queue.get(bad)["status"] == "error"
    assert (errors_dir / str(bad) / "1" / "screenshot.png").stat().st_size > 0


def test_the_signal_that_ends_a_pod_hands_its_job_back(confined, queue, tasks, noted):
    job = queue.enqueue("held_page", {})
    run = confined("--workers", 1, "--tasks", tasks, "--grace", "1s")
    wait_until(lambda: noted("begun"), "the job has begun", 60)

    run.send_signal(signal.SIGTERM)
    said, _ = run.communicate(timeout=60)

    assert run.returncode == 0, said
    assert "stopped (SIGTERM)" in said
    row = queue.get(job)
    assert (row["status"], row["attempts"]) == ("pending", 0)
