"""`archive`, `retry`, `discard` and `prune` may be killed at any moment, and run two at once."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing

import pytest

from tests.lifecycle.conftest import wait_until
from worker.database.client import Database

GROUP = "feedfacefeedface"
KILLED_AT = 700
# The launcher, killed while it removes the evidence of one attempt after many others.
DYING = f"""
import itertools, os, signal
from worker.cli.main import main

unlink, removed = os.unlink, itertools.count(1)

def unlink_or_die(path, **how):
    if os.fspath(path).endswith("page.html") and next(removed) == {KILLED_AT}:
        os.kill(os.getpid(), signal.SIGKILL)
    unlink(path, **how)

os.unlink = unlink_or_die
main()
"""


@pytest.fixture
def dead_letters(database, queue):
    """Put in so many jobs that failed an hour ago, each with one attempt in its history."""

    def dead_letters(count):
        queue.enqueue_many("visit", [{"n": n} for n in range(count)])
        database.run_statement(
            "UPDATE work_queue SET status = 'error', fence = 1, attempts = 4, blocks = 1, "
            "fingerprint = %(group)s, finished_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR",
            {"group": GROUP},
        )
        database.run_statement(
            "INSERT INTO job_attempts (job_id, fence, attempt, outcome, finished_at, fingerprint) "
            "SELECT id, fence, 4, 'error', finished_at, fingerprint FROM work_queue"
        )
        database.run_statement(
            "INSERT INTO failure_groups (fingerprint, task, label, first_seen, last_seen, "
            "failures, sample_job, sample_attempt) VALUES (%(group)s, 'visit', 'visit: Timeout', "
            "UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 1, 1, 1)",
            {"group": GROUP},
        )
        return ids_of(database, "work_queue")

    return dead_letters


def ids_of(database, table, column="id"):
    rows = database.run_statement(f"SELECT {column} AS id FROM {table} ORDER BY 1")
    return [row["id"] for row in rows]


def archived_of(database, ids):
    """Check that every job is in one place, and its history with it; count the archived ones."""
    queued, archived = ids_of(database, "work_queue"), ids_of(database, "archived_jobs")
    assert sorted(queued + archived) == ids
    assert ids_of(database, "job_attempts", "job_id") == queued
    assert ids_of(database, "archived_attempts", "job_id") == archived
    return len(archived)


@pytest.fixture
def halfway(database, settings):
    """Have the server hold whatever inserts or updates a row of the second half, until let go."""
    with closing(Database(settings)) as holder:

        def hold(event, table, ids):
            holder.run_statement("DO GET_LOCK('halfway', 0)")
            database.run_statement(
                f"CREATE TRIGGER halfway BEFORE {event} ON {table} FOR EACH ROW "
                f"SET @held = IF(NEW.id > {ids[len(ids) // 2]}, GET_LOCK('halfway', 60), 0)"
            )

        def let_go():
            holder.run_statement("DO RELEASE_LOCK('halfway')")

        yield hold, let_go


def kill_halfway(launcher, database, let_go):
    """Kill a command in the middle, and let the server end what it had been sent, as a whole."""
    held = "SELECT id FROM information_schema.processlist WHERE state = 'User lock'"
    wait_until(lambda: database.run_statement(held), "the command has come halfway")
    launcher.signal(signal.SIGKILL)
    assert launcher.wait() == -signal.SIGKILL
    let_go()
    open_transactions = "SELECT trx_id FROM information_schema.innodb_trx"
    # The server shows the same list again to whoever asks more often than ten times a second.
    ended = lambda: not database.run_statement(open_transactions)  # noqa: E731
    wait_until(ended, "the last batch has ended", every=0.2)


def count(database, table, condition="TRUE"):
    sql = f"SELECT COUNT(*) AS n FROM {table} WHERE {condition}"
    return database.run_statement(sql)[0]["n"]


@pytest.mark.parametrize(
    "command",
    [
        ("archive", "--older-than", "1m", "--batch", 20),
        ("discard", "--group", GROUP, "--yes"),
    ],
    ids=lambda command: command[0],
)
def test_jobs_moved_by_a_command_killed_midway_are_all_somewhere_and_the_next_one_goes_on(
    launch, database, dead_letters, halfway, command
):
    ids = dead_letters(2000)
    hold, let_go = halfway
    hold("INSERT", "archived_jobs", ids)

    kill_halfway(launch(*command), database, let_go)

    assert 0 < archived_of(database, ids) < len(ids)
    assert launch(*command).wait() == 0
    assert archived_of(database, ids) == len(ids)


def test_a_retry_killed_midway_has_put_back_whole_jobs_and_the_next_one_the_rest(
    launch, database, dead_letters, halfway
):
    ids = dead_letters(2000)
    untouched = "status = 'error' AND blocks = 1 AND forgiven = 0 AND finished_at IS NOT NULL"
    fresh = "status = 'pending' AND blocks = 0 AND forgiven = 4 AND finished_at IS NULL"

    hold, let_go = halfway
    hold("UPDATE", "work_queue", ids)

    kill_halfway(launch("retry", "--group", GROUP, "--yes"), database, let_go)

    back = count(database, "work_queue", fresh)
    assert 0 < back < len(ids)
    assert count(database, "work_queue", untouched) == len(ids) - back
    assert launch("retry", "--group", GROUP, "--yes").wait() == 0
    assert count(database, "work_queue", fresh) == len(ids)


@pytest.mark.parametrize(
    ("command", "figure"),
    [
        (("archive", "--older-than", "1m", "--batch", 50, "--json"), "jobs"),
        (("discard", "--group", GROUP, "--yes", "--json"), "done"),
    ],
    ids=["archive", "discard"],
)
def test_two_at_once_share_the_work(launch, database, dead_letters, command, figure):
    ids = dead_letters(3000)

    both = [launch(*command) for _ in range(2)]

    assert [each.wait() for each in both] == [0, 0]
    assert sum(each.summary[figure] for each in both) == len(ids)
    assert archived_of(database, ids) == len(ids)


def test_a_prune_killed_midway_leaves_no_half_of_an_attempt_and_the_next_one_finishes_it(
    launch, errors_dir
):
    long_ago = time.time() - 86400
    folders = [errors_dir / str(job) / "1" for job in range(1, 2 * KILLED_AT + 1)]
    for folder in folders:
        folder.mkdir(parents=True)
        for name in ("error.json", "page.html", "screenshot.png", "trace.zip"):
            (folder / name).write_bytes(b"x")
            os.utime(folder / name, (long_ago, long_ago))
        os.utime(folder, (long_ago, long_ago))

    assert launch("prune", "--older-than", "1h", program=("-c", DYING)).wait() == -signal.SIGKILL

    left = [folder for folder in folders if folder.exists()]
    assert len(left) == KILLED_AT
    assert all(len(list(folder.iterdir())) == 4 for folder in left)
    assert launch("prune", "--older-than", "1h").wait() == 0
    assert list(errors_dir.iterdir()) == []
