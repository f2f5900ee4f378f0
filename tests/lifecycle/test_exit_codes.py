"""How a run ends when something is wrong: one clear line, the right code, nothing given away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lifecycle.conftest import wait_until

SECRET = "Tr0ub4dor&3"


def refusal(run, code: int) -> str:
    """Wait for a run that must refuse to start; return the one line it says."""
    assert run.wait() == code, run.output
    assert run.stdout == ""
    (line,) = run.stderr.splitlines()
    assert line.startswith("nightshift: ")
    assert SECRET not in line
    return line


@pytest.fixture
def make_user(mysql):
    """Create a user of the server with these rights on this test's database."""
    users = []

    def make(name: str, rights: str) -> None:
        with mysql.cursor() as cursor:
            cursor.execute(f"CREATE USER '{name}'@'localhost' IDENTIFIED BY '{SECRET}'")
            users.append(name)
            cursor.execute(f"GRANT {rights} ON nightshift_test.* TO '{name}'@'localhost'")

    yield make
    with mysql.cursor() as cursor:
        for name in users:
            cursor.execute(f"DROP USER '{name}'@'localhost'")


def test_more_failures_than_allowed_are_an_exit_code(launch, queue, tasks):
    queue.enqueue_many("no such task", [{}, {}])

    run = launch("--workers", 1, "--tasks", tasks, "--fail-over", 1)

    assert run.wait() == 10
    assert "0 done, 2 failed" in run.stdout
    assert "  2 failed, and --fail-over allows 1\n" in run.stdout


def test_as_many_failures_as_allowed_are_none(launch, queue, tasks):
    queue.enqueue_many("no such task", [{}, {}])

    assert launch("--workers", 1, "--tasks", tasks, "--fail-over", 2).wait() == 0


def test_a_wrong_password_is_one_line_without_the_password(launch, settings, make_user):
    make_user("guest", "ALL")
    url = f"mysql://guest:not-{SECRET}@localhost/nightshift_test?socket={settings.unix_socket}"

    line = refusal(launch("--workers", 1, DATABASE_URL=url), 78)

    assert "refuses user 'guest': wrong user or password" in line
    assert "DATABASE_URL" in line


def test_a_password_is_nowhere_in_a_run_that_goes_well(launch, settings, make_user, tmp_path):
    make_user("guest", "ALL")
    url = f"mysql://guest:{SECRET}@localhost/nightshift_test?socket={settings.unix_socket}"

    run = launch("--workers", 1, DATABASE_URL=url)

    assert run.wait() == 0
    assert SECRET not in run.output
    for path in (tmp_path / "state").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


def test_a_missing_right_is_told_with_the_grant_that_mends_it(launch, settings, make_user):
    make_user("guest", "SELECT, INSERT, UPDATE, DELETE")
    url = f"mysql://guest:{SECRET}@localhost/nightshift_test?socket={settings.unix_socket}"

    line = refusal(launch("--workers", 1, DATABASE_URL=url), 78)

    assert "GRANT ALL ON `nightshift_test`.* TO" in line


def test_a_server_that_is_not_there_is_unavailable(launch):
    url = f"mysql://root:{SECRET}@127.0.0.1:1/nightshift_test"

    line = refusal(launch("--workers", 1, DATABASE_URL=url), 69)

    assert "root@127.0.0.1:1/nightshift_test cannot be reached" in line


def test_a_database_that_does_not_exist_is_told_with_the_statement_that_makes_it(launch, settings):
    url = f"mysql://root@localhost/absent?socket={settings.unix_socket}"

    line = refusal(launch("--workers", 1, DATABASE_URL=url), 69)

    assert "CREATE DATABASE `absent`" in line


def test_a_url_that_is_none_is_wrong_configuration(launch):
    line = refusal(launch("--workers", 1, DATABASE_URL=f"postgres://me:{SECRET}@db/name"), 78)

    assert "write mysql://user:password@host:3306/name" in line


def test_an_older_schema_is_refused_with_the_command_to_run(launch, database):
    database.run_statement("DELETE FROM schema_migrations WHERE version = 3")

    line = refusal(launch("--workers", 1), 78)

    assert "run: python launcher.py migrate" in line


def test_a_newer_schema_is_refused(launch, database):
    database.run_statement(
        "INSERT INTO schema_migrations VALUES (9999, 1, '9999_later', REPEAT('0', 64), NOW())"
    )

    assert "newer than the code" in refusal(launch("--workers", 1), 78)


def test_a_foreign_table_of_the_same_name_is_left_alone(launch, mysql):
    with mysql.cursor() as cursor:
        cursor.execute("CREATE TABLE work_queue (id INT)")

    assert "did not make" in refusal(launch("--workers", 1), 78)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def broken(:\n", "syntax error in {path}:1"),
        ("import no_such_module_at_all\n", "No module named 'no_such_module_at_all' ({path}:1)"),
        ("raise SystemExit(3)\n", "SystemExit: 3 ({path}:1)"),
        ("x = 1\n", "no task in it"),
    ],
)
def test_a_file_of_tasks_that_cannot_be_loaded_is_told_with_its_line(launch, tmp_path, text, said):
    path = tmp_path / "bad_tasks.py"
    path.write_text(text, encoding="utf-8")

    line = refusal(launch("--workers", 1, "--tasks", path), 78)

    assert f"--tasks {path}" in line
    assert said.format(path=path) in line


def test_a_file_of_tasks_that_is_not_there_is_named(launch, tmp_path):
    line = refusal(launch("--workers", 1, "--tasks", tmp_path / "absent.py"), 78)

    assert f"--tasks {tmp_path}/absent.py: there is no such file" in line


def test_a_folder_for_evidence_that_cannot_be_written_is_named(launch, tmp_path):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "errors"

    line = refusal(launch("--workers", 1, "--errors-dir", folder), 78)

    assert f"--errors-dir {folder} cannot be written" in line


def test_a_folder_for_state_that_cannot_be_written_is_named(launch, tmp_path):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "state"

    line = refusal(launch("--workers", 1, NIGHTSHIFT_STATE_DIR=str(folder)), 78)

    assert str(folder) in line
    assert "NIGHTSHIFT_STATE_DIR" in line


def test_a_browser_that_is_not_there_is_named(launch, tmp_path):
    line = refusal(launch("--workers", 1, NIGHTSHIFT_BROWSER=str(tmp_path / "absent")), 78)

    assert f"NIGHTSHIFT_BROWSER: there is no {tmp_path}/absent" in line
    line = refusal(launch("--workers", 1, "--browser", tmp_path / "absent"), 78)
    assert f"--browser: there is no {tmp_path}/absent" in line


def test_no_browser_at_all_is_told_with_the_ways_to_get_one(launch, tmp_path):
    run = launch("--workers", 1, PATH=str(tmp_path), HOME=str(tmp_path), XDG_CACHE_HOME=None)

    assert "run `make setup`, or set NIGHTSHIFT_BROWSER" in refusal(run, 69)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--lease", "1s"), "--lease 1 is too small; give 3 s or more"),
        (("--max-attempts", "0"), "--max-attempts 0 is too small"),
        (("--job-timeout", "0"), "--job-timeout 0 is too small"),
        (("--grace", "soon"), "'soon' is not a duration; write 600, 90s, 10m, 6h or 30d"),
        (("--workers", "many"), "'many' is no number of workers"),
        (("--if-locked", "cry"), "'cry' is not one of"),
        (("--no-such-flag",), "No such option"),
    ],
)
def test_flags_that_cannot_be_meant_are_wrong_usage(launch, flags, said):
    run = launch(*flags)

    assert run.wait() == 2
    assert said in run.stderr
    assert run.stdout == ""


def test_a_flag_wins_over_the_environment_and_the_environment_over_the_file(launch, tmp_path):
    env_file = tmp_path / "env"
    env_file.write_text("NIGHTSHIFT_WORKERS=-1\nNIGHTSHIFT_OFFSET=-2\n", encoding="ascii")
    variables = {"NIGHTSHIFT_ENV_FILE": str(env_file), "NIGHTSHIFT_WORKERS": "-3"}

    assert "NIGHTSHIFT_WORKERS -1" in refusal(launch(NIGHTSHIFT_ENV_FILE=str(env_file)), 2)
    assert "NIGHTSHIFT_WORKERS -3" in refusal(launch(**variables), 2)
    assert "--workers -4" in refusal(launch("--workers", "-4", **variables), 2)
    assert "NIGHTSHIFT_OFFSET -2" in refusal(launch("--workers", 1, **variables), 2)


def test_a_quiet_run_says_nothing_when_nothing_was_wrong(launch, queue, tasks):
    queue.enqueue("noop", {})
    queue.enqueue("retried", {"succeeds_at": 2, "after": 0})

    run = launch("--workers", 2, "--tasks", tasks, "--quiet")

    assert run.wait() == 0
    assert run.output == ""


def test_a_quiet_run_keeps_what_a_task_says_in_passing_to_itself(launch, queue, tasks):
    queue.enqueue("chatty", {})

    run = launch("--workers", 1, "--tasks", tasks, "--quiet")

    assert run.wait() == 0
    assert "hello from the task" not in run.output
    assert "something is odd" in run.stderr


def test_a_quiet_run_tells_of_a_job_that_failed(launch, queue, tasks):
    job = queue.enqueue("no such task", {})

    run = launch("--workers", 1, "--tasks", tasks, "--quiet")

    assert run.wait() == 0
    assert f"job {job} failed" in run.stderr
    assert "1 failed" in run.stdout


def test_a_quiet_run_that_waits_for_another_says_nothing(launch, queue, tasks, let_go, noted):
    queue.enqueue("held", {})
    first = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    second = launch("--workers", 1, "--tasks", tasks, "--if-locked", "wait", "--quiet")
    sleeping = Path(f"/proc/{second.pid}/wchan")
    wait_until(lambda: "nanosleep" in sleeping.read_text(encoding="ascii"), "it waits")

    let_go()

    assert first.wait() == 0
    assert second.wait() == 0
    assert second.output == ""
