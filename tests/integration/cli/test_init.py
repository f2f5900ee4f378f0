"""`init`: a project out of nothing, the files around it, and never a file overwritten."""

from __future__ import annotations

import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.lifecycle.conftest import REPO, clean_environment
from worker.project_file import read


@pytest.fixture
def cli(tmp_path):
    """Run the command `nightshift` in a folder of its own, without a database."""
    folder = tmp_path / "own"
    folder.mkdir()
    environment = clean_environment(
        tmp_path,
        DATABASE_URL="mysql://root@127.0.0.1:1/none",
        NIGHTSHIFT_ENV_FILE=None,
        PYTHONPATH=str(REPO),
    )

    def call(*arguments: str, cwd: Path = folder) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nightshift", *arguments],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return call


@pytest.fixture
def folder(tmp_path, cli):
    return tmp_path / "own"


def names(folder) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


PROJECT = {"nightshift.toml", "tasks/product.py", "tasks/test_product.py", ".gitignore"}


def test_a_project_has_settings_a_typed_task_its_test_and_a_gitignore(cli, folder):
    done = cli("init")

    assert (done.returncode, done.stderr) == (0, "")
    assert names(folder) == PROJECT
    text = (folder / "tasks/product.py").read_text()
    assert "def product(page: Page, payload: Product, job: Job)" in text
    assert read(folder / "nightshift.toml")["NIGHTSHIFT_TASKS"] == str(folder / "tasks")
    assert "/.env" in (folder / ".gitignore").read_text().splitlines()
    assert "nightshift try product --payload" in done.stdout


def test_a_gitignore_that_is_there_gets_what_it_lacks_and_keeps_the_rest(cli, folder):
    (folder / ".gitignore").write_text("*.pyc\n/errors/")

    assert cli("init").returncode == 0
    assert (folder / ".gitignore").read_text().splitlines() == [
        *("*.pyc", "/errors/", "/.env", "/.local/", "/results/")
    ]


@pytest.mark.parametrize("name", sorted(PROJECT - {".gitignore"}))
def test_nothing_is_written_where_a_file_would_be_overwritten(cli, folder, name):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("# mine")

    done = cli("init")

    assert done.returncode == 2
    assert "exists already" in done.stderr
    assert names(folder) == {name}
    assert (folder / name).read_text() == "# mine"


def test_the_files_for_docker_systemd_and_cron_can_be_added_later(cli, folder):
    assert cli("init").returncode == 0

    assert cli("init", "--docker", "--systemd", "--cron").returncode == 0
    added = {"Dockerfile", "compose.yaml", "seccomp.json", ".dockerignore", "requirements.txt"}
    added |= {"wheels/.gitkeep", "nightshift.service", "nightshift.cron"}
    assert names(folder) == PROJECT | added
    unit = (folder / "nightshift.service").read_text()
    assert "Type=notify" in unit
    assert f"WorkingDirectory={folder}" in unit
    assert f"cd {folder} && " in (folder / "nightshift.cron").read_text()
    assert cli("init", "--cron").returncode == 2


def test_the_line_for_cron_joins_the_others_and_bears_an_odd_path(cli, folder):
    odd = folder / "my shop's 100%"
    odd.mkdir()
    assert cli("init", "--cron", "--systemd", "--project", str(odd)).returncode == 0

    text = (odd / "nightshift.cron").read_text()
    assert "(crontab -l 2>/dev/null; cat nightshift.cron) | crontab -" in text
    # What cron hands to the shell: it takes a bare % for the end of the line.
    command = text.splitlines()[-1].split(maxsplit=5)[5]
    assert "%" not in command.replace(r"\%", "")
    assert shlex.split(command.replace(r"\%", "%"))[:3] == ["cd", str(odd), "&&"]
    unit = (odd / "nightshift.service").read_text()
    assert f"WorkingDirectory={folder}/my shop's 100%%\n" in unit


def test_systemd_finds_nothing_wrong_with_the_unit(cli, folder):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd here")
    assert cli("init", "--systemd").returncode == 0

    command = ["systemd-analyze", "verify", folder / "nightshift.service"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert "nightshift.service" not in done.stdout + done.stderr


def test_a_task_of_a_project_goes_into_its_tasks(cli, folder):
    assert cli("init").returncode == 0

    done = cli("init", "my_shop")

    assert done.returncode == 0, done.stderr
    assert names(folder) == PROJECT | {"tasks/my_shop.py", "tasks/test_my_shop.py"}
    assert "class MyShop:" in (folder / "tasks/my_shop.py").read_text()
    assert "nightshift try my_shop --payload" in done.stdout


def test_a_project_can_be_made_elsewhere(cli, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()

    assert cli("init", "--project", str(other)).returncode == 0
    assert names(other) == PROJECT
    assert names(folder) == set()


def test_what_a_project_sets_is_used_and_a_flag_wins(cli, folder):
    (folder / "nightshift.toml").write_text("[run]\nworkers = 0\n")
    assert cli("status").stderr == (
        f"nightshift: {folder}/nightshift.toml [run] workers: workers 0 is too small; "
        f"give 1 or more\n"
    )

    (folder / "nightshift.toml").write_text('[run]\nerrors-dir = "evidence"\nuntil = "25:00"\n')
    told = " is not a time of day"
    assert f"nightshift: nightshift.toml [run] until 25:00{told}" in cli("run").stderr
    assert f"nightshift: --until 26:00{told}" in cli("run", "--until", "26:00").stderr
    (folder / ".env").write_text("NIGHTSHIFT_UNTIL=27:00\n")
    assert f"nightshift: .env NIGHTSHIFT_UNTIL 27:00{told}" in cli("run").stderr
    (folder / ".env").write_text("NIGHTSHIFT_LEASE=soon\n")
    assert "nightshift: .env NIGHTSHIFT_LEASE: 'soon' is not a duration" in cli("run").stderr


def test_a_subfolder_of_a_project_is_not_taken_for_it_without_a_word(cli, folder):
    assert cli("init").returncode == 0
    told = f"warning: there is no nightshift.toml here, but in {folder}; for that project, go there"

    assert told in cli("status", cwd=folder / "tasks").stderr
    assert "warning" not in cli("status", "--project", str(folder), cwd=folder / "tasks").stderr
    assert "warning" not in cli("status", "--help", cwd=folder / "tasks").stderr
    assert "warning" not in cli("status").stderr


def test_the_version_of_the_package_is_that_of_the_code():
    project = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    command = [sys.executable, "-m", "nightshift", "--version"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True)

    assert done.stdout == f"nightshift, version {project['version']}\n"


def test_what_init_writes_is_no_secret_and_can_be_read_by_its_owner_alone(cli, folder):
    assert cli("init").returncode == 0

    for name in names(folder):
        assert stat.S_IMODE((folder / name).stat().st_mode) & 0o077 == 0, name


def test_a_task_of_ones_own_cannot_have_the_name_of_a_built_in_one(cli, folder):
    assert cli("init").returncode == 0

    done = cli("init", "visit")

    assert done.returncode == 2
    assert "visit is the name of a built-in task" in done.stderr
    assert names(folder) == PROJECT
