"""The health check of the pool's container, as its Dockerfile has it, against a real run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.lifecycle.conftest import REPO, clean_environment, url_of, wait_until
from worker.supervisor.alive_file import NAME

DOCKERFILE = REPO / "deploy" / "docker" / "Dockerfile"


@pytest.fixture
def is_healthy(settings, tmp_path):
    """Ask as Docker would, in the folder where the project is."""
    found = re.search(r"^HEALTHCHECK .*\\\n +CMD (.*)$", DOCKERFILE.read_text(), re.MULTILINE)
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "nightshift"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} {REPO}/launcher.py "$@"\n')
    command.chmod(0o700)
    environment = clean_environment(tmp_path, DATABASE_URL=url_of(settings))
    environment["PATH"] = f"{programs}:{environment['PATH']}"

    def ask():
        line = json.loads(found[1])
        done = subprocess.run(line, cwd=tmp_path, env=environment, timeout=60, check=False)
        return done.returncode == 0

    return ask


def test_a_pool_that_hangs_is_not_healthy(launch, tmp_path, is_healthy):
    state = tmp_path / ".local"
    run = launch("--workers", 1, "--follow", NIGHTSHIFT_STATE_DIR=str(state))
    wait_until(is_healthy, "the pool is at work", every=0.5)

    os.kill(run.pid, signal.SIGSTOP)
    a_while_ago = time.time() - 120
    os.utime(state / NAME, (a_while_ago, a_while_ago))
    assert not is_healthy()

    os.kill(run.pid, signal.SIGCONT)
    wait_until(is_healthy, "its loop turns again", every=0.5)
    run.signal(signal.SIGTERM)
    assert run.wait() == 0
    assert not is_healthy()
