"""`launcher.py dashboard`: the command line around the pages."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from worker.settings import PROJECT_ROOT


@pytest.fixture
def command(tmp_path, settings, database):
    """Run the command in a state folder of its own, on this test's database."""
    environment = {
        **os.environ,
        "NIGHTSHIFT_STATE_DIR": str(tmp_path),
        "DATABASE_URL": "",
        "MYSQL_SOCKET": settings.unix_socket or "",
        "MYSQL_DATABASE": settings.database,
        "NIGHTSHIFT_ENV_FILE": str(tmp_path / "none.env"),
    }

    def start(*arguments, **options):
        return subprocess.Popen(
            [sys.executable, "launcher.py", "dashboard", *arguments],
            cwd=PROJECT_ROOT,
            env=environment | options.pop("env", {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def test_another_address_is_refused_without_users(command):
    process = command("--host", "0.0.0.0", "--allow-host", "night-1")
    _, said = process.communicate(timeout=60)

    assert process.returncode == 78
    assert "launcher.py dashboard user NAME" in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "flags",
    [("--https",), ("--trusted-proxy", "127.0.0.1"), ("--allow-host", "night-1.example.com")],
    ids=lambda flags: flags[0],
)
def test_a_proxy_in_front_of_it_is_refused_without_users(command, flags):
    process = command(*flags)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 78
    assert said.startswith(f"nightshift: {flags[0]}")
    assert "launcher.py dashboard user NAME" in said


def test_a_proxy_is_named_by_its_address(command):
    process = command("--trusted-proxy", "proxy.example.com")
    _, said = process.communicate(timeout=60)

    assert process.returncode == 78
    assert "--trusted-proxy proxy.example.com is not an address" in said


def test_users_and_tokens_are_added_listed_and_removed(command):
    told = command("token", "grafana").communicate(timeout=60)[0]
    assert re.fullmatch(r"ns_[\w-]{40,}\n", told)
    assert "no users" in command("users").communicate(timeout=60)[0]

    process = command("user", "mara", "--remove")
    assert "there is no user mara" in process.communicate(timeout=60)[1]
    assert process.returncode == 2


def test_without_flask_it_says_how_to_install_it(command, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, p=None: None if n == 'flask' else find(n, p)\n"
    )
    process = command(env={"PYTHONPATH": str(tmp_path)})
    _, said = process.communicate(timeout=60)

    assert process.returncode == 78
    assert "nightshift[web]" in said
    assert len(said.strip().splitlines()) == 1


def test_it_serves_until_it_is_interrupted(command):
    with command("--port", "0") as process:
        url = re.search(r"http://\S+", process.stderr.readline())[0]

        with urllib.request.urlopen(url, timeout=30) as answer:
            assert "Nightshift" in answer.read().decode()
        process.send_signal(signal.SIGINT)

        assert process.wait(30) in (0, 130)
