"""Queues, batches, schedules and added jobs are told with the night."""

from __future__ import annotations

from datetime import timedelta

from worker.history import archive, dead_letters
from worker.reporting.night import picture


def test_each_queue_is_told_where_the_runs_worked_more_than_one(database, invented, told):
    assert told().queues == ()

    database.run_statement("UPDATE runs SET queues = 'default,slow'")
    database.run_statement("UPDATE work_queue SET queue = 'slow' WHERE status = 'error' AND id % 2")
    night = told()

    assert {queue.name for queue in night.queues} == {"default", "slow"}
    assert sum(queue.done for queue in night.queues) == night.counts.done
    assert sum(queue.failed for queue in night.queues) == night.counts.failed
    assert all(queue.is_whole and queue.left is None for queue in night.queues)
    slow = next(queue for queue in night.queues if queue.name == "slow")
    assert (slow.done, slow.failed > 0) == (0, True)


def test_what_a_person_has_discarded_is_in_no_queues_figures(database, invented, told):
    database.run_statement("UPDATE runs SET queues = 'default,slow'")
    before = sum(queue.failed for queue in told().queues)
    scope = dead_letters.Scope(archive.now(database), group="5c20aa9100000000")
    dead_letters.discard(database, scope, archive.Label("me", "discarded by me"))

    after = told()

    assert sum(queue.failed for queue in after.queues) == before - 9 == after.counts.failed


def test_batches_that_were_finished_in_the_night_are_named(database, invented, told):
    for name, hours in (("early", -1), ("monday", 3), ("tuesday", 5)):
        database.run_statement(
            "INSERT INTO batches (name, created_at, created_by, finished_at, done, failed, "
            "cancelled) VALUES (%(name)s, %(at)s - INTERVAL 2 HOUR, 'me', %(at)s, 498, 2, 1)",
            {"name": name, "at": invented.start + timedelta(hours=hours)},
        )
    batches = told().batches

    assert [each.name for each in batches.ended] == ["tuesday", "monday"]
    assert (batches.of_all, batches.open) == (2, 0)
    assert (batches.ended[0].done, batches.ended[0].failed, batches.ended[0].seconds) == (
        498, 2, 7200,
    )  # fmt: skip


def test_jobs_that_jobs_have_added_are_counted(database, invented, told):
    first = database.run_statement("SELECT MAX(id) AS id FROM work_queue")[0]["id"]
    assert told().follow_ups == 0

    database.run_statement(f"UPDATE work_queue SET parent_id = 1 WHERE id > {first - 5}")

    assert told().follow_ups == 5


def test_schedules_are_house_keeping(database, invented, told):
    for name, wait, is_paused in (("nightly", 9, False), ("late", -1, False), ("rests", 1, True)):
        database.run_statement(
            "INSERT INTO schedules (name, cron, timezone, if_missed, task, queue, priority, "
            "is_batched, next_at, is_paused, set_by, set_at) VALUES (%(name)s, '* * * * *', 'UTC', "
            "'once', 'visit', 'default', 0, FALSE, UTC_TIMESTAMP(6) + INTERVAL %(wait)s HOUR, "
            "%(paused)s, 'me', UTC_TIMESTAMP(6))",
            {"name": name, "wait": wait, "paused": is_paused},
        )
    item = next(each for each in told().house if each.name == "Schedules")

    assert item.state == "look"
    assert item.text.startswith("3 schedules, next late at ")
    assert "; paused: rests; due and not seen: late; start a run, or: launcher.py tick" in item.text


def test_a_queues_pause_is_named_and_shades_nothing(database, invented, told):
    database.run_statement("UPDATE events SET name = 'slow' WHERE kind = 'pause'")
    (pause,) = [each for each in told().interruptions if each.kind == "pause of a queue"]

    assert pause.text == "queue slow paused by mara"
    assert pause.kind not in picture._SHADES
