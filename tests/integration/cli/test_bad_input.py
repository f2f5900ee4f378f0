"""The command line as a whole: names, help, and what was never a command."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

import pytest

from tests.lifecycle.conftest import REPO, clean_environment, run_command, url_of

COMMANDS = ["run", "enqueue", "status", "show", "sweep", "migrate", "db", "doctor"]


@pytest.fixture
def cli(tmp_path):
    """A command line that must not need a database."""
    return partial(run_command, tmp_path, DATABASE_URL="mysql://root@127.0.0.1:1/none")


def test_help_names_every_command(cli):
    done = cli("--help")

    assert done.returncode == 0
    for name in COMMANDS:
        assert f"  {name} " in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(cli, name):
    done = cli(name, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: launcher.py" in done.stdout


def test_every_flag_of_a_run_is_in_its_help(cli):
    told = cli("run", "--help").stdout

    for flag in (
        "workers",
        "total",
        "offset",
        "follow",
        "grace",
        "if-locked",
        "fail-over",
        "quiet",
    ):
        assert f"--{flag}" in told


def test_the_version_is_told(cli):
    assert cli("--version").stdout.startswith("nightshift, version ")


def test_a_setting_of_run_is_checked_in_the_same_way_by_other_commands(cli):
    done = cli("sweep", "--max-attempts", "0")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "nightshift: --max-attempts 0 is too small; give 1 or more\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("run", "stray"),
        ("enqueue",),
        ("enqueue", "http://a/", "http://b/"),
        ("show",),
        ("db", "no-such-word"),
        ("status", "--no-such-flag"),
    ],
)
def test_what_is_no_command_is_wrong_usage(cli, arguments):
    done = cli(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("nightshift: ")


@pytest.mark.parametrize(
    ("arguments", "environ", "told"),
    [
        (("enqueue", "http://a/", "--priority", "99999999999"), {}, "--priority: 99999999999 is"),
        (("run", "--fail-over", "-1"), {}, "--fail-over -1 is too small; give 0 or more"),
        (("run", "--workers", "100000"), {}, "--workers 100000 is too large; give 1000 or less"),
        (("run", "--queue", ""), {}, "--queue is empty; leave it out for default"),
        (("run",), {"NIGHTSHIFT_WORKERS": "100000"}, "NIGHTSHIFT_WORKERS 100000 is too large"),
        (("run",), {"NIGHTSHIFT_WORKERS": "six"}, "NIGHTSHIFT_WORKERS: 'six' is no number"),
        (("enqueue", "http://a/", "--not-before", "2020-01-01T00:00"), {}, "is in the past"),
        (("status", "--project", "/nowhere"), {}, "--project /nowhere: there is no such folder"),
        (("status", "--project"), {}, "--project: name the folder"),
    ],
)
def test_a_value_out_of_range_is_one_line_that_names_who_gave_it(cli, arguments, environ, told):
    done = cli(*arguments, **environ)

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("nightshift: ")
    assert told in line


@pytest.mark.parametrize("arguments", [("init", "class"), ("run",), ("--workers", "1")])
def test_a_variable_that_nothing_reads_is_named_before_the_answer(cli, arguments):
    done = cli(*arguments, NIGHTSHIFT_WORKRES="6")

    assert done.stderr.splitlines()[0] == (
        "nightshift: warning: nothing reads the variable NIGHTSHIFT_WORKRES; "
        "did you mean NIGHTSHIFT_WORKERS?"
    )


@pytest.mark.parametrize("command", ["status", "sweep", "migrate"])
def test_a_database_that_is_away_is_one_line(cli, command):
    done = cli(command)

    assert (done.returncode, done.stdout) == (69, "")
    (line,) = done.stderr.splitlines()
    assert "root@127.0.0.1:1/none cannot be reached" in line


def test_a_settings_file_with_a_bad_line_is_named(cli, tmp_path):
    path = tmp_path / "env"
    path.write_text("# fine\nDATABASE_URL\n", encoding="ascii")

    done = cli("status", NIGHTSHIFT_ENV_FILE=str(path))

    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr == f"nightshift: {path}:2: expected KEY=value\n"


def test_a_reader_that_has_seen_enough_is_no_error(settings, database, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "launcher.py", "status"],
        cwd=REPO,
        env=clean_environment(tmp_path, DATABASE_URL=url_of(settings)),
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=30,
        check=False,
    )
    os.close(writer)

    assert (done.returncode, done.stderr) == (0, b"")
