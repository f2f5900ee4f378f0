"""What follows the results misses no finish, however late it is committed, and repeats none."""

from __future__ import annotations

from contextlib import closing

from worker.database.client import Database
from worker.history import results
from worker.history.results import Selection


def finish_at(database: Database, job_id: int, seconds_ago: float) -> None:
    database.run_statement(
        "UPDATE work_queue SET status = 'done', result = '1', "
        "finished_at = UTC_TIMESTAMP(6) - INTERVAL %(ago)s SECOND WHERE id = %(id)s",
        {"id": job_id, "ago": seconds_ago},
    )


def followed(database: Database, selection: Selection) -> list[int]:
    return [job["id"] for job in results.read(database, selection, is_followed=True)]


def test_a_finish_that_waited_for_a_lock_is_given_when_it_is_committed(database, queue, settings):
    late, prompt = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    selection = Selection()
    with closing(Database(settings)) as worker:
        worker.run_statement("BEGIN")
        finish_at(worker, late, 30)
        finish_at(database, prompt, 10)
        assert followed(database, selection) == [prompt]
        worker.run_statement("COMMIT")

    assert followed(database, selection) == [late]
    assert followed(database, selection) == []


def test_following_from_a_moment_on_never_goes_back_behind_it(database, queue):
    before, after = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    finish_at(database, before, 40)
    finish_at(database, after, 10)
    selection = Selection(
        since=database.run_statement("SELECT UTC_TIMESTAMP(6) - INTERVAL 20 SECOND AS t")[0]["t"]
    )

    assert followed(database, selection) == [after]
    assert followed(database, selection) == []
