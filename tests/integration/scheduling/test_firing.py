"""A schedule adds its jobs exactly once each time, whoever looks, and knows what it missed."""

from __future__ import annotations

import json
import math
import threading
from datetime import timedelta

import pytest

from worker.errors import UsageError
from worker.scheduling import firing, schedules
from worker.scheduling.schedules import NewSchedule

HOURLY = NewSchedule("hourly", "0 * * * *", "UTC", "price", ('{"n": 1}', '{"n": 2}'))


@pytest.fixture
def due(database):
    """Keep a schedule whose next time was some hours and some seconds ago."""

    def due(hours=0, **changes):
        values = {name: getattr(HOURLY, name) for name in NewSchedule.__slots__} | changes
        schedules.add(database, NewSchedule(**values), "me", replace=True)
        database.run_statement(
            "UPDATE schedules SET next_at = DATE_FORMAT(UTC_TIMESTAMP(6), '%%Y-%%m-%%d %%H:00:00')"
            " - INTERVAL %(hours)s HOUR",
            {"hours": hours},
        )

    return due


def jobs(database):
    return database.run_statement(
        "SELECT id, task, queue, priority, batch, payload FROM work_queue ORDER BY id"
    )


def test_a_schedule_that_is_due_adds_its_jobs_in_their_order(database, due):
    due(queue="slow", priority=4)

    (fired,) = firing.fire_due(database)

    assert (fired.name, fired.jobs, fired.missed) == ("hourly", 2, 0)
    first, second = jobs(database)
    assert [json.loads(each["payload"]) for each in (first, second)] == [{"n": 1}, {"n": 2}]
    assert (first["task"], first["queue"], first["priority"]) == ("price", "slow", 4)
    kept = schedules.find(database, "hourly")
    assert kept["next_at"] > kept["now"]
    assert firing.fire_due(database) == []


def test_of_many_that_look_at_once_one_adds_them(database, connect, due):
    due(3, if_missed="all")
    databases = [connect() for _ in range(6)]
    fired: list[firing.Fired] = []
    threads = [
        threading.Thread(target=lambda db=db: fired.extend(firing.fire_due(db))) for db in databases
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [each.jobs for each in fired] == [8]
    assert len(jobs(database)) == 8


def test_a_lost_answer_adds_nothing_twice(database, connect, due, lose_the_next_answer):
    due()
    db = connect(patience_seconds=5)
    rows = db.fetch_all("due_schedules")
    lose_the_next_answer(db)

    assert firing._fire(db, rows[0]) is None
    assert len(jobs(database)) == 2


@pytest.mark.parametrize(
    ("rule", "added", "missed"), [("once", 2, 5), ("all", 12, 0), ("skip", 0, 6)]
)
def test_missed_times_are_treated_as_the_schedule_says(database, due, rule, added, missed):
    due(5, if_missed=rule)
    database.run_statement("SET @now = NULL")

    (row,) = database.fetch_all("due_schedules")
    # Whatever the minute is now: the last of the six times is long past.
    row["now"] = row["next_at"].replace(minute=50) + (row["now"] - row["next_at"]).__class__(
        hours=5
    )
    fired = firing._fire(database, row)

    assert (fired.jobs, fired.missed) == (added, missed)
    assert schedules.find(database, "hourly")["missed"] == missed


@pytest.mark.parametrize(
    ("rule", "fired_times", "missed"), [("once", 1, 1_800), ("all", 1_801, 0), ("skip", 1, 1_800)]
)
def test_after_a_long_absence_every_time_is_counted_and_the_last_one_not_forgotten(
    database, due, rule, fired_times, missed
):
    due(cron="* * * * *", if_missed=rule, payloads=('{"n": 1}',))
    (row,) = database.fetch_all("due_schedules")
    # The last of thirty hours' minutes is half a minute old.
    row["now"] = row["next_at"] + timedelta(hours=30, seconds=30)

    first = firing._fire(database, row)
    row["next_at"] = schedules.find(database, "hourly")["next_at"]
    rest = firing._fire(database, row, math.inf)

    assert len(jobs(database)) == first.jobs + rest.jobs == fired_times
    kept = schedules.find(database, "hourly")
    assert (kept["fired"], kept["missed"]) == (fired_times, missed)
    assert kept["next_at"] == row["now"] + timedelta(seconds=30)


def test_a_time_that_is_seen_soon_was_not_missed(database, due):
    due(if_missed="skip")
    (row,) = database.fetch_all("due_schedules")
    row["now"] = row["next_at"].replace(minute=3)

    assert firing._fire(database, row).jobs == 2


def test_a_paused_schedule_rests_and_does_not_make_up_for_it(database, due):
    due(2)
    schedules.pause(database, "hourly")
    assert firing.fire_due(database) == []

    row = schedules.resume(database, "hourly")
    assert row["next_at"] > row["now"]
    assert firing.fire_due(database) == []


def test_run_now_leaves_the_next_time_as_it_is(database):
    schedules.add(database, HOURLY, "me")
    before = schedules.find(database, "hourly")["next_at"]

    assert firing.run_now(database, "hourly").jobs == 2
    after = schedules.find(database, "hourly")
    assert (after["next_at"], after["fired"]) == (before, 1)


def test_the_jobs_of_one_time_can_be_a_batch(database, due):
    due(1, if_missed="all", is_batched=True)

    firing.fire_due(database)

    names = {each["batch"] for each in jobs(database)}
    assert len(names) == 2
    assert all(name.startswith("hourly 20") for name in names)
    opened = database.run_statement("SELECT name FROM batches")
    assert {each["name"] for each in opened} == names


def test_a_name_is_taken_once_and_a_removed_schedule_is_gone(database, queue):
    schedules.add(database, HOURLY, "me")
    with pytest.raises(UsageError, match="there is a schedule named hourly already"):
        schedules.add(database, HOURLY, "me")
    schedules.add(database, HOURLY, "me", replace=True)
    assert int(schedules.find(database, "hourly")["jobs"]) == 2

    schedules.remove(database, "hourly")
    with pytest.raises(UsageError, match="there is no schedule named hourly; there are: none"):
        schedules.find(database, "hourly")


def test_a_schedule_that_cannot_be_read_here_does_not_keep_others_from_firing(
    database, due, caplog
):
    due(name="broken")
    database.run_statement("UPDATE schedules SET timezone = 'Mars/Olympus'")
    database.run_statement(
        "INSERT INTO schedules SELECT 'good', cron, 'UTC', if_missed, task, queue, priority,"
        " is_batched, next_at, is_paused, fired_at, fired, missed, set_by, set_at FROM schedules"
    )
    known: set[str] = set()

    assert [each.name for each in firing.fire_due(database, known)] == ["good"]
    assert firing.fire_due(database, known) == []
    assert caplog.text.count("schedule broken is left alone") == 1
