"""Streams that are closed or full: one line where there is room for it, and an exit code."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.lifecycle.conftest import REPO, clean_environment, url_of


@pytest.fixture
def shell(settings, database, tmp_path):
    """Run `launcher.py …` in a shell, which closes or redirects its streams."""

    def run(command, **changes):
        changes = {"DATABASE_URL": url_of(settings), "PYTHON": sys.executable, **changes}
        environment = clean_environment(tmp_path, **changes)
        done = subprocess.run(
            ["/bin/sh", "-c", f'exec "$PYTHON" launcher.py {command}'],
            cwd=REPO,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        assert "Exception ignored" not in done.stderr
        return done

    return run


@pytest.mark.parametrize(
    "command",
    ["status", "status --json", "export", "limits", "show 1 --json", "--help", "run --help"],
)
@pytest.mark.parametrize(
    ("where", "reason"),
    [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")],
)
def test_data_that_cannot_be_written_is_one_line_and_an_error(shell, queue, command, where, reason):
    queue.enqueue("visit", {"url": "https://example.com"})
    if command == "export":
        command = "export --format csv --columns url"

    done = shell(f"{command} {where}")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"nightshift: stdout cannot be written: {reason}\n"


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full", ">&- 2>&-", ">/dev/full 2>/dev/full"])
def test_an_error_that_nobody_can_be_told_still_has_its_exit_code(shell, where):
    assert shell(f"show 4729 {where}").returncode == 2
    assert shell(f"status {where}", DATABASE_URL="mysql://root@127.0.0.1:1/none").returncode == 69
    assert shell(f"no-such-command {where}").returncode == 2


def test_what_is_only_told_is_lost_and_the_work_is_done(shell, queue, tmp_path):
    path = tmp_path / "urls.txt"
    path.write_text("https://example.com\nnot a url\n", encoding="ascii")

    done = shell(f"enqueue --skip-bad {path} 2>/dev/full")

    assert (done.returncode, done.stdout) == (0, "added 1 job for task visit: id 1\n")


@pytest.mark.parametrize("where", [">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full"])
def test_a_run_does_its_work_whatever_its_streams_are(shell, queue, tmp_path, where):
    tasks = tmp_path / "own.py"
    tasks.write_text(
        "from worker import task\n\n@task('noop', browser=False)\n"
        "def noop(page, payload, job):\n    print('hello')\n",
        encoding="ascii",
    )
    job = queue.enqueue("noop", {})

    done = shell(f"run --workers 1 --tasks {tasks} {where}")

    assert done.returncode == 0, done.stderr
    assert queue.get(job)["status"] == "done"
