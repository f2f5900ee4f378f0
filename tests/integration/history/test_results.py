"""Finished jobs are read in batches, each once, whatever the archive does meanwhile."""

from __future__ import annotations

import threading
from contextlib import closing
from datetime import UTC, datetime

from worker.database.client import Database
from worker.history import results as exporting
from worker.history.results import Selection


def test_jobs_come_in_batches_and_none_twice_though_many_finish_at_once(
    database, queue, monkeypatch
):
    monkeypatch.setattr(exporting, "BATCH", 7)
    queue.enqueue_many("visit", [{"n": n} for n in range(50)])
    database.run_statement(
        "UPDATE work_queue SET status = 'done', result = '1', "
        "finished_at = '2026-01-01' + INTERVAL (id DIV 20) SECOND"
    )
    asked = []
    fetch = database.fetch_all
    monkeypatch.setattr(
        database, "fetch_all", lambda name, **how: asked.append(name) or fetch(name, **how)
    )

    jobs = exporting.read(database, Selection())
    next(jobs)
    assert len(asked) == 1, "the first job is given before the last one is read"

    rest = [job["payload"]["n"] for job in jobs]
    assert rest == list(range(1, 50))
    assert len(asked) == 8


def test_times_are_given_as_texts_that_programs_read(database, finish, put_away):
    exact, archived = finish({}), finish({})
    database.run_statement(
        "UPDATE work_queue SET started_at = '2026-01-31 18:00:00.25', "
        "finished_at = '2026-01-31 18:00:01'"
    )
    put_away(archived)

    for job in exporting.read(database, Selection(with_archive=True)):
        assert job["started_at"] == "2026-01-31T18:00:00.250000Z"
        assert job["finished_at"] == "2026-01-31T18:00:01Z"
        assert datetime.fromisoformat(job["created_at"]).tzinfo == UTC
        assert (job["archived_at"] or "Z").endswith("Z")
        assert (job["archived_at"] is None) == (job["id"] == exact)


def test_what_names_columns_is_read_of_the_same_jobs(database, finish, put_away, monkeypatch):
    monkeypatch.setattr(exporting, "BATCH", 2)
    ids = [finish({"rows": [{"n": n}, {"n": n}]}, ago=100 - n) for n in range(5)]
    put_away(ids[0], ids[3])

    for archived, expected in ((False, [ids[1], ids[2], ids[4]]), (True, ids)):
        selection = Selection(with_archive=archived, by_rows=True)
        naming = list(exporting.read_naming(database, selection.copy()))
        whole = list(exporting.read(database, selection))
        assert [job["id"] for job in whole] == [each for each in expected for _ in range(2)]
        assert naming == [{key: job[key] for key in naming[0]} for job in whole]
        assert "last_error" not in naming[0]


def test_following_leaves_the_last_moments_for_the_next_look(database, finish):
    # The session's own clock, which stands still: time passes when the test says so.
    database.run_statement("SET timestamp = 1000000000")
    old = finish({}, ago=exporting.SETTLING_SECONDS + 0.1)
    fresh = finish({}, ago=exporting.SETTLING_SECONDS - 0.1)
    selection = Selection()

    first = [job["id"] for job in exporting.read(database, selection, is_followed=True)]
    database.run_statement("SET timestamp = 1000000001")
    second = [job["id"] for job in exporting.read(database, selection, is_followed=True)]

    assert (first, second) == ([old], [fresh])


def test_a_job_that_is_archived_between_two_reads_comes_once(
    database, finish, put_away, monkeypatch
):
    monkeypatch.setattr(exporting, "BATCH", 2)
    expected = [finish({}, ago=100 - n) for n in range(8)]

    jobs = exporting.read(database, Selection(with_archive=True))
    found = [next(jobs)["id"]]
    # One that was read, one that is at hand, and one that is still to be read.
    assert put_away(expected[0], expected[1], expected[5]) == 3
    found += [job["id"] for job in jobs]

    assert found == expected


def test_while_the_archive_is_at_work_every_job_is_exported_once(
    database, queue, put_away, monkeypatch
):
    monkeypatch.setattr(exporting, "BATCH", 5)
    queue.enqueue_many("visit", [{"n": n} for n in range(600)])
    database.run_statement(
        "UPDATE work_queue SET status = 'done', result = '1', "
        "finished_at = '2026-01-01' + INTERVAL (id * 7919 % 600) SECOND"
    )
    jobs = [row["id"] for row in database.run_statement("SELECT id FROM work_queue")]
    moved = []

    def move_all():
        with closing(Database(database.settings)) as db:
            starts = range(0, len(jobs), 5)
            moved.extend(put_away(*jobs[start : start + 5], db=db) for start in starts)

    thread = threading.Thread(target=move_all)
    thread.start()
    found = [job["id"] for job in exporting.read(database, Selection(with_archive=True))]
    thread.join(60)

    assert len(found) == 600
    assert sorted(found) == sorted(jobs)
    assert sum(moved) == 600


def test_following_misses_nothing_that_the_archive_takes_at_once(database, finish, put_away):
    first, second = finish({}, ago=30), finish({}, ago=20)
    put_away(first)
    selection = Selection(with_archive=True)

    found = [job["id"] for job in exporting.read(database, selection, is_followed=True)]
    third = finish({}, ago=10)
    put_away(second, third)
    found += [job["id"] for job in exporting.read(database, selection, is_followed=True)]

    assert found == [first, second, third]
