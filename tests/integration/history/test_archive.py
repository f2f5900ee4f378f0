"""The archive moves finished jobs with all they have; jobs in = queue + archive at any moment.

Shows invariant 9: no job is lost or counted twice on its way to the archive.
"""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.conftest import because
from tests.lifecycle.conftest import run_command, url_of
from worker.errors import ClaimLost
from worker.history import archive
from worker.history.archive import Label
from worker.models import Cause

LABEL = Label("me@here", "a test")
# Worked out of other columns for indexes of the queue.
DERIVED = {"dedupe_scope", "order_place", "owner_ended_at", "owner_status"}
EXTRA = {"archived_at", "archived_by", "archive_reason"}


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def archive_all(database, **options):
    finished = archive.finished_before(database, 0.0, ("done", "error"))
    return sum(moved.jobs for moved in archive.run(database, finished, LABEL, rest=0.0, **options))


def finish_many(database, queue, count):
    """Put in so many jobs that finished an hour ago, each with one attempt in its history."""
    queue.enqueue_many("visit", [{"n": n} for n in range(count)])
    database.run_statement(
        "UPDATE work_queue SET status = IF(id % 3, 'done', 'error'), fence = 1, attempts = 1, "
        "finished_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR"
    )
    database.run_statement(
        "INSERT INTO job_attempts (job_id, fence, attempt, outcome, finished_at) "
        "SELECT id, 0, 1, 'retry', finished_at FROM work_queue"
    )
    return ids_of(database, "work_queue")


def ids_of(database, table, column="id"):
    rows = database.run_statement(f"SELECT {column} AS id FROM {table} ORDER BY 1")
    return [row["id"] for row in rows]


def assert_all_are_somewhere(database, ids):
    queued, archived = ids_of(database, "work_queue"), ids_of(database, "archived_jobs")
    assert sorted(queued + archived) == ids
    # Its history is where the job is.
    assert ids_of(database, "job_attempts", "job_id") == queued
    assert ids_of(database, "archived_attempts", "job_id") == archived
    return len(archived)


def columns(database, table):
    rows = database.run_statement(
        "SELECT column_name AS name FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND table_name = %(table)s",
        {"table": table},
    )
    return {row["name"] for row in rows}


@pytest.mark.parametrize(
    ("table", "archive_table", "extra"),
    [
        ("work_queue", "archived_jobs", EXTRA),
        ("job_attempts", "archived_attempts", {"archived_at"}),
    ],
)
def test_the_archive_has_every_column_of_the_queue(database, table, archive_table, extra):
    assert columns(database, archive_table) == columns(database, table) - DERIVED | extra


def test_every_column_of_a_job_and_its_attempts_gets_into_the_archive(database, queue, claim_as):
    job = queue.enqueue("visit", {"url": "https://www.example.com/a?b"})
    why = because("HTTP 500", "Traceback", "f" * 16, "1/1", "logged in", "visit: HTTP", Cause.SITE)
    queue.fail(claim_as(slot=3, total=4), why)
    database.run_statement(
        "UPDATE work_queue SET not_before = UTC_TIMESTAMP(6), wait_reason = 'w', max_attempts = 7, "
        "timeout_seconds = 8, lease_until = UTC_TIMESTAMP(6), result = '{\"a\": 1}', priority = 9, "
        "dedupe_key = 'd', callback_url = 'http://c', profile_id = 'p', account_id = 'a', "
        "blocks = 2, crashes = 1, forgiven = 3, irreversible_step = 'paying', taken_steps = 't', "
        "order_key = 'k', order_on_failure = 'wait', "
        "used_profile = 'p', used_account = 'a', used_proxy = 'x', "
        "parent_id = 4, root_id = 2, depth = 5, batch = 'b', dedupe_across_tasks = TRUE"
    )
    database.run_statement(
        "UPDATE job_attempts SET evidence_dir = '/errors', evidence_host = 'h', "
        "used_profile = 'p', used_account = 'a', used_proxy = 'x'"
    )
    row, history = queue.get(job), queue.history(job)
    # A column added later has no value here: give it one above, and a place in the archive.
    assert [name for name, value in row.items() if value in (None, 0)] == []
    assert [name for name, value in history[0].items() if value in (None, 0)] == []

    # By age nothing takes it: it may be half done.
    assert archive_all(database) == 0
    label, now = archive.Label("me@here", "a test"), archive.now(database)
    assert archive.move(database, [job], label, until=now, statuses=("error",)).jobs == 1

    archived, archived_history = archive.find(database, job)
    assert {name: archived.pop(name) for name in EXTRA - {"archived_at"}} == {
        "archived_by": "me@here",
        "archive_reason": "a test",
    }
    archived.pop("archived_at")
    assert archived == {name: value for name, value in row.items() if name not in DERIVED}
    assert archived["site"] == "example.com"
    assert archived_history == history
    assert queue.get(job) is None
    assert queue.history(job) == []


def test_only_finished_jobs_of_the_right_age_and_state_are_moved(database, queue, claim_as):
    done = queue.enqueue("visit", {})
    queue.complete(claim_as(), {})
    failed = queue.enqueue("visit", {})
    queue.fail(claim_as(), because("HTTP 404"))
    recent = queue.enqueue("visit", {})
    queue.complete(claim_as(), {})
    busy = queue.enqueue("visit", {})
    claim_as()
    pending = queue.enqueue("visit", {})
    again = queue.enqueue("visit", {})
    database.run_statement(
        "UPDATE work_queue SET finished_at = UTC_TIMESTAMP(6) - INTERVAL 2 HOUR "
        "WHERE id IN %(ids)s",
        # The last one was put back by hand after it had been done: it is pending.
        {"ids": (done, failed, again)},
    )

    finished = archive.finished_before(database, 3600.0, ("done",))
    assert sum(moved.jobs for moved in archive.run(database, finished, LABEL)) == 1
    assert ids_of(database, "archived_jobs") == [done]
    finished = archive.finished_before(database, 3600.0, ("done", "error"))
    assert archive.count(database, finished) == {"done": 0, "error": 1}
    assert sum(moved.jobs for moved in archive.run(database, finished, LABEL)) == 1
    assert ids_of(database, "archived_jobs") == [done, failed]
    assert ids_of(database, "work_queue") == [recent, busy, pending, again]


def test_a_job_that_changed_after_its_number_was_read_stays(database, queue, claim_as):
    job = queue.enqueue("visit", {})
    queue.fail(claim_as(), because("HTTP 404"))
    until = archive.now(database)
    database.run_statement("UPDATE work_queue SET status = 'pending', finished_at = NULL")
    claim = claim_as()

    moved = archive.move(database, [job], LABEL, until=until, statuses=("done", "error"))

    assert moved == archive.Moved(0, 0)
    queue.fail(claim, because("HTTP 404 again"))
    # It has ended once more, but after the moment that was meant.
    assert archive.move(database, [job], LABEL, until=until, statuses=("error",)).jobs == 0
    assert len(queue.history(job)) == 2


def test_a_number_that_is_used_again_after_a_truncate_is_archived_beside_the_former(
    database, queue, claim_as
):
    for result in ("first life", "second life"):
        job = queue.enqueue("visit", {})
        queue.complete(claim_as(), result)
        assert archive_all(database) == 1
        database.run_statement("TRUNCATE work_queue")

    assert ids_of(database, "archived_jobs") == [job, job]
    found, history = archive.find(database, job)
    assert json.loads(found["result"]) == "second life"
    assert [attempt["outcome"] for attempt in history] == ["done"]


def test_small_batches_move_as_much_as_large_ones(database, queue):
    ids = finish_many(database, queue, 25)
    finished = archive.finished_before(database, 60.0, ("done", "error"))
    pauses = []

    moved = list(archive.run(database, finished, LABEL, batch=10, rest=2.0, sleep=pauses.append))

    assert [(batch.jobs, batch.attempts) for batch in moved] == [(10, 10), (10, 10), (5, 5)]
    assert len(pauses) == 3
    assert all(0 < seconds <= archive.MAX_REST_SECONDS for seconds in pauses)
    assert assert_all_are_somewhere(database, ids) == 25


def test_the_archive_stops_when_its_time_is_over_and_goes_on_next_time(database, queue):
    ids = finish_many(database, queue, 30)
    assert archive_all(database, batch=10, max_seconds=0.0) == 10
    assert archive_all(database, batch=10) == 20
    assert assert_all_are_somewhere(database, ids) == 30


def test_an_answer_lost_in_the_commit_moves_nothing_twice(
    database, queue, connect, lose_the_next_answer
):
    ids = finish_many(database, queue, 10)
    other = connect(patience_seconds=5.0)
    until = archive.now(other)
    original = other.run_script

    def run_script(name, /, **params):
        lose_the_next_answer(other)
        return original(name, **params)

    other.run_script = run_script
    archive.move(other, ids, LABEL, until=until, statuses=("done", "error"))

    assert assert_all_are_somewhere(database, ids) == 10


def test_a_worker_whose_job_was_archived_meanwhile_learns_that_its_claim_is_lost(
    database, queue, claim_as
):
    job = queue.enqueue("visit", {})
    claim = claim_as()
    database.run_statement(
        "UPDATE work_queue SET status = 'error', lease_until = NULL, finished_at = UTC_TIMESTAMP(6)"
    )
    until = archive.now(database)
    assert archive.move(database, [job], LABEL, until=until, statuses=("error",)).jobs == 1

    with pytest.raises(ClaimLost):
        queue.complete(claim, {})


def test_the_command_counts_first_when_asked_to(cli, database, queue):
    finish_many(database, queue, 9)

    dry = cli("archive", "--older-than", "10m", "--dry-run")
    told = json.loads(cli("archive", "--older-than", "10m", "--dry-run", "--json").stdout)

    assert (dry.returncode, dry.stderr) == (0, "")
    assert dry.stdout == (
        "would archive 9 jobs that finished more than 10 m 00 s ago: 6 done, 3 error\n"
    )
    assert told == {"jobs": 9, "by_status": {"done": 6, "error": 3}, "dry_run": True}
    assert ids_of(database, "archived_jobs") == []


def test_the_command_says_what_it_moved_and_show_still_finds_it(cli, database, queue):
    ids = finish_many(database, queue, 9)

    moved = cli("archive", "--older-than", "10m", "--status", "error")
    shown = cli("show", ids[2])
    told = json.loads(cli("show", ids[2], "--json").stdout)

    assert moved.stdout == (
        "archived 3 jobs that finished more than 10 m 00 s ago, with 3 attempts of history\n"
    )
    assert "(visit): error after 1 attempt" in shown.stdout
    assert "  archived  2" in shown.stdout
    assert ": finished long enough ago" in shown.stdout
    assert "  attempt 1, " in shown.stdout
    assert told["job"]["archived_at"].endswith("Z")
    assert json.loads(cli("archive", "--older-than", "10m", "--json").stdout)["jobs"] == 6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing option '--older-than'"),
        (["--older-than", "soon"], "is not a duration"),
        (["--older-than", "1d", "--status", "pending"], "only finished jobs are archived"),
        (["--older-than", "1d", "--status", ","], "only finished jobs are archived"),
        (["--older-than", "1d", "--batch", "0"], "0 is not in the range"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(cli, database, arguments, said):
    done = cli("archive", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_an_age_beyond_all_time_archives_nothing(cli, database, queue):
    finish_many(database, queue, 3)

    assert cli("archive", "--older-than", "99999999d").stdout.startswith("archived 0 jobs")
