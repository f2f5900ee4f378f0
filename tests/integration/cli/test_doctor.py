"""`launcher.py doctor`: everything there that a night needs, or how to get it."""

from __future__ import annotations

import json
import re
import subprocess
from functools import partial

import pytest

from tests.lifecycle.conftest import processes_of, run_command, url_of, wait_until
from worker.queue import pause

CHECKS = ["python", "database", "schema", "server", "writing", "queue", "ways out", "folders"]
CHECKS += [
    "vendors",
    "tasks",
    "browser",
    "browsers elsewhere",
    "errors folder",
    "results folder",
    "state folder",
    "shared evidence",
    "notify",
]
CHECKS += ["privacy", "disk"]


@pytest.fixture
def cli(settings, tmp_path):
    return partial(
        run_command,
        tmp_path,
        DATABASE_URL=url_of(settings),
        NIGHTSHIFT_RESULTS_DIR=str(tmp_path / "results"),
    )


def failing(done) -> dict[str, str]:
    """The failed checks of a report, with what each says."""
    lines = [line for line in done.stdout.splitlines() if line.startswith("FAIL ")]
    return dict(line.removeprefix("FAIL ").split(": ", 1) for line in lines)


def test_a_healthy_machine_passes_every_check_and_keeps_nothing(cli, tmp_path):
    done = cli("doctor")

    assert (done.returncode, done.stderr) == (0, "")
    assert [line[5:].split(":")[0] for line in done.stdout.splitlines()] == CHECKS
    assert failing(done) == {}
    assert list((tmp_path / "state").iterdir()) == []
    wait_until(lambda: not processes_of(tmp_path), "its browser is gone", seconds=10)


def test_a_report_for_programs_holds_the_same(cli):
    told = json.loads(cli("doctor", "--json").stdout)

    assert [finding["check"] for finding in told] == CHECKS
    assert all(finding["is_ok"] for finding in told)


def test_each_failed_check_says_its_fix_and_the_others_go_on(cli, tmp_path):
    (tmp_path / "file").touch()
    done = cli(
        "doctor",
        DATABASE_URL="mysql://root:hunter2@127.0.0.1:1/name",
        NIGHTSHIFT_BROWSER=str(tmp_path / "absent"),
        NIGHTSHIFT_TASKS=str(tmp_path / "absent.py"),
        NIGHTSHIFT_ERRORS_DIR=str(tmp_path / "file" / "errors"),
    )

    failed = failing(done)
    assert done.returncode == 69
    asking = ["database", "schema", "server", "writing", "queue", "ways out", "folders", "vendors"]
    assert list(failed) == [*asking, "tasks", "browser", "errors folder"]
    assert "check that it runs and that DATABASE_URL names it" in failed["database"]
    assert "there is no such file" in failed["tasks"]
    assert "NIGHTSHIFT_BROWSER: there is no" in failed["browser"]
    assert "make it writable or choose another" in failed["errors folder"]
    assert "hunter2" not in done.stdout + done.stderr


def test_a_browser_that_does_not_start_is_told_with_its_fix(cli, tmp_path):
    broken = tmp_path / "broken-chromium"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
    broken.chmod(0o755)

    done = cli("doctor", NIGHTSHIFT_BROWSER=str(broken))

    assert done.returncode == 69
    assert list(failing(done)) == ["browser"]
    assert "try it by hand, or run `make setup`" in failing(done)["browser"]


def test_an_older_schema_is_told_with_its_fix(cli, database):
    database.run_statement("DELETE FROM schema_migrations WHERE version = 3")

    done = cli("doctor")

    assert done.returncode == 78
    assert "run: python launcher.py migrate" in failing(done)["schema"]


def test_a_url_that_is_none_fails_its_checks_and_nothing_else(cli):
    done = cli("doctor", DATABASE_URL="nonsense")

    assert done.returncode == 78
    asking = ["database", "schema", "server", "writing", "queue", "ways out", "folders", "vendors"]
    assert list(failing(done)) == asking


def test_a_user_who_may_only_read_is_told_the_right_that_is_missing(
    cli, database, make_user, settings
):
    url = url_of(settings).replace("root@", f"{make_user('owl', 'secret', 'SELECT')}:secret@")

    done = cli("doctor", DATABASE_URL=url)

    assert done.returncode == 78
    assert list(failing(done)) == ["server", "writing"]
    assert "GRANT ALL ON `nightshift_test`.*" in failing(done)["writing"]


def test_what_it_writes_is_taken_back(cli, database, queue):
    assert cli("doctor").returncode == 0

    assert sum(queue.counts().values()) == 0
    for table in ("job_attempts", "workers"):
        assert database.run_statement(f"SELECT COUNT(*) AS n FROM {table}") == [{"n": 0}]


def test_a_paused_queue_is_told_with_who_paused_it(cli, database):
    pause.pause(database, "stocktaking", "ann@desk")

    done = cli("doctor")

    assert done.returncode == 78
    assert list(failing(done)) == ["queue"]
    assert "by ann@desk: stocktaking" in failing(done)["queue"]
    assert "python launcher.py resume" in failing(done)["queue"]


def test_a_pause_of_one_queue_is_told_too(cli, database):
    pause.pause(database, "stocktaking", "ann@desk", queue="default")
    pause.pause(database, "holidays", "bob@desk", queue="shop")

    done = cli("doctor")

    assert done.returncode == 78
    told = failing(done)["queue"]
    assert "queue default is paused since" in told
    assert "by ann@desk: stocktaking" in told
    assert "python launcher.py resume --queue default" in told
    assert "by bob@desk: holidays" in told
    assert "python launcher.py resume --queue shop" in told


@pytest.fixture
def full_disk(tmp_path):
    """A disk on which a small file still fits, and no screenshot."""
    folder = tmp_path / "full"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting needs root")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize(
    ("check", "setting"),
    [("errors folder", "NIGHTSHIFT_ERRORS_DIR"), ("results folder", "NIGHTSHIFT_RESULTS_DIR")],
)
def test_a_folder_on_a_full_disk_is_told_with_its_fix(cli, database, full_disk, check, setting):
    done = cli("doctor", **{setting: str(full_disk)})

    assert done.returncode == 78
    assert list(failing(done)) == [check]
    assert "No space left on device; free some space there" in failing(done)[check]


def test_what_other_users_may_read_is_named_with_what_to_type(cli, tmp_path):
    env_file, secrets = tmp_path / "env", tmp_path / "secrets"
    env_file.write_text("")
    env_file.chmod(0o644)
    errors, state = tmp_path / "errors", tmp_path / "state"
    for folder in (secrets, errors, errors / "7", state, state / "journal"):
        folder.mkdir()
        # Whatever this process would leave out.
        folder.chmod(0o755)
    (secrets / "SHOP_PASSWORD").touch()
    (secrets / "SHOP_PASSWORD").chmod(0o640)
    where = {"NIGHTSHIFT_ENV_FILE": str(env_file), "NIGHTSHIFT_SECRETS_DIR": str(secrets)}

    done = cli("doctor", **where)

    assert done.returncode == 78
    places = [env_file, secrets, tmp_path / "errors", tmp_path / "state" / "journal"]
    command = f"chmod -R go= {' '.join(map(str, places))}"
    assert failing(done)["privacy"].endswith(f"type: {command}")
    subprocess.run(command, shell=True, check=True)
    assert failing(cli("doctor", **where)) == {}


def test_the_server_is_named_and_tried_on_two_connections(cli):
    (server,) = [line for line in cli("doctor").stdout.splitlines() if " server: " in line]

    assert re.match(r"ok   server: (MariaDB|MySQL) \d", server)
    assert "two connections agree on sessions, claims, commits, locks and time" in server


def test_a_server_with_an_older_schema_is_named_and_not_tried(cli, database):
    database.run_statement("DELETE FROM schema_migrations WHERE version >= 40")
    database.run_statement("DROP TABLE named_locks")

    assert "not tried, because its schema is not up to date" in cli("doctor").stdout
