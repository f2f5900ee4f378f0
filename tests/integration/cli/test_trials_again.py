"""A task whose job was done is run again only on a person's word, beside the job's own files."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from functools import partial

import pytest

from tests.lifecycle.conftest import REPO, clean_environment, run_command, url_of

TASKS = """
from pathlib import Path
from worker import task

@task("order", browser=False)
def order(page, payload, job):
    with Path(__file__).with_name("orders").open("a") as orders:
        orders.write("one\\n")
    job.attach("receipt.txt", "of the second")
    return {"ordered": job.id}
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(TASKS, encoding="utf-8")
    return path


@pytest.fixture
def environment(settings, tmp_path):
    results = str(tmp_path / "results")
    return {"DATABASE_URL": url_of(settings), "NIGHTSHIFT_RESULTS_DIR": results}


@pytest.fixture
def cli(tmp_path, environment):
    return partial(run_command, tmp_path, **environment)


@pytest.fixture
def done_job(queue, claim_as, tmp_path):
    """A job that was done, with a file that it kept."""
    job = queue.enqueue("order", {})
    queue.complete(claim_as(), {})
    folder = tmp_path / "results" / str(job)
    folder.mkdir(parents=True)
    (folder / "receipt.txt").write_text("of the first", encoding="ascii")
    return job


def orders(tmp_path):
    path = tmp_path / "orders"
    return path.read_text().count("one") if path.exists() else 0


def answered(tmp_path, environment, command, answer):
    """Run a command with a terminal for stdin, and answer its question."""
    near, far = pty.openpty()
    os.write(near, f"{answer}\n".encode())
    done = subprocess.run(
        [sys.executable, "launcher.py", *map(str, command)],
        cwd=REPO,
        env=clean_environment(tmp_path, **environment),
        stdin=far,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(near)
    os.close(far)
    return done


@pytest.mark.parametrize("how", [("reproduce",), ("try", "order", "--job")])
def test_the_task_of_a_done_job_needs_a_word(cli, own, done_job, tmp_path, environment, how):
    command = (*how, done_job, "--tasks", own)

    refused = cli(*command)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"job {done_job} is done: its task would be run once more, for real" in refused.stderr
    assert "add --force" in refused.stderr

    declined = answered(tmp_path, environment, command, "n")
    assert (declined.returncode, orders(tmp_path)) == (0, 0)
    assert "Run it? [y/N]" in declined.stderr

    agreed = answered(tmp_path, environment, command, "y")
    assert (json.loads(agreed.stdout), orders(tmp_path)) == ({"ordered": done_job}, 1)
    assert cli(*command, "--force").returncode == 0
    assert orders(tmp_path) == 2


@pytest.mark.parametrize(
    ("how", "kind"), [(("reproduce",), "reproduced"), (("try", "order", "--job"), "tried")]
)
def test_the_files_of_a_job_are_never_written_over(cli, own, done_job, tmp_path, how, kind):
    assert cli(*how, done_job, "--tasks", own, "--force").returncode == 0

    results = tmp_path / "results"
    assert (results / str(done_job) / "receipt.txt").read_text() == "of the first"
    assert (results / kind / str(done_job) / "receipt.txt").read_text() == "of the second"


def test_a_job_that_is_being_done_needs_a_word_too(cli, own, queue, claim_as, tmp_path):
    job = queue.enqueue("order", {})
    claim_as()

    done = cli("reproduce", job, "--tasks", own)

    assert (done.returncode, orders(tmp_path)) == (2, 0)
    assert f"job {job} is in_progress now" in done.stderr


def test_reproducing_says_that_it_runs_the_task_for_real(cli, own, queue):
    job = queue.enqueue("order", {})

    assert "its task is run for real" in cli("reproduce", job, "--tasks", own).stderr
    assert "for real" in cli("reproduce", "--help").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("try", "visit", "--payload", "{"),
        ("try", "visit", "--payload", "[]"),
        ("try", "visit", "--payload", f'{{"n": {"7" * 5000}}}'),
        ("try", "extract", "--payload", '{"url": "http://a/"}'),
        ("try", "nobody", "--payload", "{}"),
        ("enqueue", "http://a/", "--priority", "99999999999"),
        ("enqueue", "http://a/", "--max-attempts", "99999999999"),
        ("limits", "set", "global", "--concurrent", "99999999999999"),
        ("limits", "set", "global", "--per-minute", "nan"),
        ("limits", "set", "global", "--per-minute", "inf"),
        ("archive", "--older-than", "9" * 400),
    ],
)
def test_wrong_values_are_wrong_usage(cli, database, arguments):
    done = cli(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
