"""`launcher.py enqueue --dedupe` beside another transaction that adds the same keys."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.lifecycle.conftest import REPO, clean_environment, url_of

# The server undoes the transaction that has changed less: the other one has changed this much more.
BALLAST = 500
ADD = "INSERT INTO work_queue (payload, dedupe_key) VALUES ('{}', %(key)s)"


@pytest.fixture
def other(connect):
    """A transaction that has added key b, and much else, and is not done yet."""
    db = connect()
    db.run_statement("BEGIN")
    for number in range(BALLAST):
        db.run_statement(ADD, {"key": f"ballast {number}"})
    db.run_statement(ADD, {"key": "b"})
    return db


@pytest.fixture
def enqueue(database, settings, tmp_path):
    """Start to enqueue a and b, in this order; it waits for b while it holds a."""
    path = tmp_path / "jobs.csv"
    path.write_text("url,sku\nhttps://example.com/a,a\nhttps://example.com/b,b\n")

    def start(source: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "launcher.py", "enqueue", source, "--format=csv", "--dedupe={sku}"],
            cwd=REPO,
            env=clean_environment(tmp_path, DATABASE_URL=url_of(settings)),
            stdin=subprocess.PIPE if source == "-" else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if process.stdin is not None:
            process.stdin.write(path.read_text())
            process.stdin.close()
            process.stdin = None
        return process

    return lambda source: start(str(path) if source == "file" else source)


def waits(database) -> bool:
    rows = database.run_statement("SHOW PROCESSLIST")
    return any("INSERT INTO work_queue" in str(row["Info"]) for row in rows)


def conflict(database, other, process, eventually) -> tuple[str, str]:
    """Add key a as well: one of the two has to be undone, and that is the smaller one."""
    eventually(lambda: waits(database))
    other.run_statement(ADD, {"key": "a"})
    other.run_statement("COMMIT")
    return process.communicate(timeout=40)


def test_a_file_is_added_again_after_a_deadlock(database, other, enqueue, eventually):
    process = enqueue("file")

    out, err = conflict(database, other, process, eventually)

    assert (process.returncode, err) == (0, "")
    assert out.startswith("added 0 jobs for task visit, 2 duplicates skipped: job ")


def test_what_came_by_a_pipe_is_refused_in_one_line(database, other, enqueue, eventually):
    process = enqueue("-")

    out, err = conflict(database, other, process, eventually)

    assert (process.returncode, out) == (69, "")
    (line,) = err.splitlines()
    assert "nothing was added; standard input cannot be read a second time: run it again" in line
