"""One writer at a time: what a former one has worked out is never written over the next one's."""

from __future__ import annotations

import threading
from datetime import timedelta

from tests.integration.reporting.conftest import (
    counted_by_hand,
    counted_by_rollups,
    told,
    work_off,
)
from worker.reporting import figures
from worker.reporting.minutes import Counted
from worker.reporting.rollups import Rollups
from worker.reporting.spans import MINUTE
from worker.reporting.writer import Stretch, Writer


def expire(database):
    database.run_statement(
        "UPDATE rollup_writer SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"
    )


def test_a_second_writer_leaves_the_work_to_the_first(database, connect, now, ended):
    ended(now - timedelta(hours=1))
    first, second = Rollups.of(database, "run 1"), Rollups.of(connect(), "run 2")

    assert first.beat()
    assert not second.beat()

    assert figures.state(database).owner == "run 1"


def test_another_writer_takes_over_when_the_lease_has_ended(database, connect):
    first, second = Writer(database, "run 1"), Writer(connect(), "run 2")
    assert first.hold()
    expire(database)

    assert second.hold()
    assert first.hold() is None


def test_a_writer_that_lets_go_makes_room_at_once(database, connect):
    first, second = Writer(database, "run 1"), Writer(connect(), "run 2")
    assert first.hold()
    first.release()

    assert second.hold()


def test_the_next_heart_of_a_run_goes_on_at_once(database, connect):
    first, second = Writer(database, "run 1"), Writer(connect(), "run 1")
    assert first.hold()

    assert second.hold()


def test_what_a_former_writer_has_worked_out_is_not_written(database, connect, now):
    stale, other = Writer(database, "run 1"), Writer(connect(), "run 2")
    held = stale.hold()
    assert held is not None
    assert other.hold(by_force=True)
    minute = MINUTE.floor(now)

    assert not stale.write(Stretch(MINUTE, minute, MINUTE.next(minute), Counted()), held[1])

    assert figures.state(database).counted_until < minute


def test_a_lease_is_renewed_while_there_is_nothing_to_write(database):
    writer = Writer(database, "run 1")
    assert writer.hold()
    database.run_statement(
        "UPDATE rollup_writer SET lease_until = UTC_TIMESTAMP(6) + INTERVAL 5 SECOND"
    )

    assert writer.hold()

    (row,) = database.fetch_all("read_writer")
    assert row["lease_left"] > 30


def test_many_writers_at_once_count_each_job_once(database, connect, now, ended):
    for number in range(120):
        ended(now - timedelta(minutes=5 + number), task=f"task {number % 3}")
    keepers = [Rollups.of(connect(), f"run {number}") for number in range(4)]

    def fight(keeper):
        for _ in range(30):
            keeper.writer.hold(by_force=True)
            keeper.beat()
            keeper.beat()
            keeper.release()

    threads = [threading.Thread(target=fight, args=(keeper,)) for keeper in keepers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = Rollups.of(database, "the last")
    last.writer.hold(by_force=True)
    work_off(last)

    assert counted_by_rollups(database) == counted_by_hand(database)
    before = told(database)
    assert last.rebuild(now - timedelta(hours=5))
    assert told(database) == before
