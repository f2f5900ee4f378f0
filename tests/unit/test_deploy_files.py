"""The files under deploy/ that an operator installs: accepted by the programs that read them."""

from __future__ import annotations

import configparser
import os
import pwd
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from worker.time_of_day import seconds_until

DEPLOY = Path(__file__).parents[2] / "deploy"
FOLDER = "/srv/nightshift"
LOGS = "/var/log/nightshift"


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "systemd" / name)
    return parser


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="apt install systemd has it")
def test_systemd_finds_nothing_to_complain_of(tmp_path):
    for path in (DEPLOY / "systemd").iterdir():
        text = path.read_text().replace(f"{FOLDER}/.venv/bin/python", sys.executable)
        text = text.replace("User=nightshift", f"User={pwd.getpwuid(os.getuid()).pw_name}")
        (tmp_path / path.name).write_text(text.replace(FOLDER, str(DEPLOY.parent)))
    units = [str(path) for path in sorted(tmp_path.iterdir())]
    done = subprocess.run(
        ["systemd-analyze", "verify", *units],
        env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"},
        capture_output=True,
        check=False,
        text=True,
    )

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_service_is_watched_and_stopped_in_good_order():
    service = unit("nightshift.service")["Service"]

    assert service["Type"] == "notify"
    assert int(service["WatchdogSec"]) >= 30
    # Browsers and the private server are the launcher's to end, or not.
    assert service["KillMode"] == "process"
    assert set(service["RestartPreventExitStatus"].split()) == {"2", "10", "11", "75", "78"}


def test_the_timer_starts_the_service_every_evening():
    assert unit("nightshift.timer")["Timer"]["OnCalendar"] == "*-*-* 18:00:00"


def test_each_line_for_cron_has_times_a_user_and_a_command():
    lines = (DEPLOY / "cron" / "nightshift").read_text().splitlines()
    jobs = [line for line in lines if line and not re.match(r"#|[A-Z]+=", line)]

    assert len(jobs) == 4
    for job in jobs:
        *times, user, command = job.split(maxsplit=6)
        assert all(re.fullmatch(r"[\d*/,-]+", time) for time in times)
        assert user == "nightshift"
        assert command.startswith(f"cd {FOLDER} && .venv/bin/python launcher.py ")
        # To cron it would mean a new line.
        assert "%" not in command


@pytest.mark.skipif(shutil.which("logrotate") is None, reason="apt install logrotate has it")
def test_a_log_is_rotated_and_goes_on_in_the_same_file(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir(mode=0o700)
    user = pwd.getpwuid(os.getuid()).pw_name
    config = (DEPLOY / "logrotate" / "nightshift").read_text().replace(LOGS, str(logs))
    config = config.replace("su nightshift nightshift", f"su {user} {os.getgid()}")
    (tmp_path / "conf").write_text(config)
    (tmp_path / "conf").chmod(0o600)
    with (logs / "run.log").open("a") as log:
        log.write("before\n")
        log.flush()
        subprocess.run(
            ["logrotate", "-f", "-s", str(tmp_path / "state"), str(tmp_path / "conf")],
            check=True,
            capture_output=True,
        )
        log.write("after\n")

    (old,) = [path for path in logs.iterdir() if path.name != "run.log"]
    assert old.read_text() == "before\n"
    assert (logs / "run.log").read_text() == "after\n"


def test_the_files_speak_of_one_folder_and_one_end_of_the_night():
    for path in (*DEPLOY.glob("systemd/*"), DEPLOY / "cron" / "nightshift"):
        text = path.read_text()
        for until in re.findall(r"--until (\S+)", text):
            assert seconds_until(until, datetime.now(UTC)) > 0
        assert not re.search(r"/(?:opt|home|usr/local)/nightshift", text)
