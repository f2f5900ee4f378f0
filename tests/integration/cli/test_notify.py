"""`launcher.py notify` and what concerns `--notify` before a run begins."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from tests.lifecycle.notice_receiver import SECRET, receiver


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def told():
    with receiver() as (url, heard):
        yield url, heard


def test_a_test_message_arrives_and_the_command_says_so(cli, told):
    url, heard = told
    done = cli("notify", "--test", NIGHTSHIFT_NOTIFY=url)

    assert (done.returncode, done.stdout) == (0, "target 1 (json): the message was taken\n")
    assert [each.what for each in heard] == ["a test"]


def test_a_test_that_does_not_arrive_fails_without_naming_the_url(cli, closed_port):
    done = cli(
        *("notify", "--test", "--json"),
        NIGHTSHIFT_NOTIFY=f"json://127.0.0.1:{closed_port}/{SECRET}",
    )

    assert done.returncode == 1
    (result,) = json.loads(done.stdout)
    assert result["target"] == "target 1 (json)"
    assert result["trouble"]
    assert SECRET not in done.stdout + done.stderr


def test_several_targets_are_shown_by_number_and_service(cli, tmp_path, told):
    file = tmp_path / "urls"
    file.write_text(told[0])
    done = cli("notify", "--notify", "env:OPS", "--notify", f"file:{file}", OPS="ntfy://night")

    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "target 1 (ntfy): its URL is understood",
        "target 2 (json): its URL is understood",
    ]
    assert done.stderr == ""


def test_without_targets_it_says_where_to_write_them(cli):
    done = cli("notify")

    assert done.returncode == 78
    assert "NIGHTSHIFT_NOTIFY=mailto://" in done.stderr


@pytest.mark.parametrize("command", ["run", "notify"])
def test_without_apprise_it_says_in_a_line_how_to_install_it(cli, tmp_path, command):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['apprise'] = None\n")
    done = cli(command, NIGHTSHIFT_NOTIFY="json://127.0.0.1:1", PYTHONPATH=str(tmp_path))

    assert done.returncode == 78
    (line,) = done.stderr.splitlines()
    assert "pip install 'nightshift[notify]'" in line


@pytest.mark.parametrize("command", ["run", "notify"])
def test_a_url_that_apprise_does_not_know_ends_with_78_and_is_not_repeated(cli, command):
    done = cli(command, NIGHTSHIFT_NOTIFY=f"nosuch://{SECRET}")

    assert done.returncode == 78
    assert "target 1 (nosuch)" in done.stderr
    assert SECRET not in done.stderr


def test_what_is_no_url_at_all_is_wrong_usage(cli):
    done = cli("run", "--notify", SECRET)

    assert done.returncode == 2
    assert "--notify" in done.stderr
    assert SECRET not in done.stderr


def test_a_secret_on_the_command_line_is_warned_of(cli, closed_port):
    url = f"json://me:{SECRET}@127.0.0.1:{closed_port}"
    done = cli("notify", "--notify", url)

    assert done.returncode == 0
    assert "other users of this machine can read --notify" in done.stderr
    assert SECRET not in done.stderr
    assert cli("notify", NIGHTSHIFT_NOTIFY=url).stderr == ""


def test_doctor_says_whom_a_run_tells_and_what_is_wrong_with_it(cli, tmp_path):
    def said(value: str) -> tuple[bool, str]:
        report = json.loads(cli("doctor", "--json", NIGHTSHIFT_NOTIFY=value).stdout)
        (found,) = [each for each in report if each["check"] == "notify"]
        return found["is_ok"], found["text"]

    file = tmp_path / "urls"
    file.write_text("json://127.0.0.1:1\n")
    file.chmod(0o644)
    assert said("")[0]
    assert said("json://127.0.0.1:1 ntfy://night") == (
        True,
        "a run that goes wrong tells target 1 (json), target 2 (ntfy); "
        "try it: python launcher.py notify --test",
    )
    assert said(f"nosuch://{SECRET}")[0] is False
    assert said(f"file:{file}") == (False, f"other users may read {file}; type: chmod go= {file}")
