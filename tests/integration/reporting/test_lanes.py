"""The timeline: a lane for each slot of each run, whose columns hold what ended in them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.integration.reporting.conftest import work_off
from worker.queue import runs
from worker.reporting import figures, lanes
from worker.reporting.spans import MINUTE


@pytest.fixture
def workers(database, new_run):
    """Two workers of one run, by slot."""
    run = new_run()
    return run, [runs.start_worker(database, run, slot) for slot in range(2)]


def test_each_worker_has_a_lane_with_what_it_did_when(
    database, keeper, now, ended, attempted, workers
):
    run, (first, second) = workers
    start = MINUTE.floor(now) - timedelta(hours=2)
    for minute in range(60):
        ended(start + timedelta(minutes=minute), incarnation=first, seconds=30.0)
    job = ended(start, incarnation=second)
    attempted(job, start + timedelta(minutes=50), "error", fence=9, failed=True)
    database.run_statement("UPDATE job_attempts SET incarnation = %(id)s", {"id": second})
    work_off(keeper)

    drawn = lanes.timeline(database, start, start + timedelta(hours=1), columns=6)

    assert drawn.column_seconds == 600
    one, other = drawn.lanes
    assert (one.run_id, one.slot, one.restarts) == (run, 0, 0)
    assert [column.done for column in one.columns] == [10] * 6
    assert one.columns[0].busy_seconds == pytest.approx(300)
    assert [(c.start, c.done, c.failed) for c in other.columns] == [
        (start, 1, 0),
        (start + timedelta(minutes=50), 0, 1),
    ]


def test_the_last_minute_is_drawn_before_it_is_counted(database, keeper, now, ended, workers):
    _run, (first, _) = workers
    ended(now, incarnation=first)

    drawn = lanes.timeline(database, now - timedelta(hours=1), now + timedelta(minutes=1))

    assert [column.done for lane in drawn.lanes for column in lane.columns] == [1]
    assert figures.state(database).owner is None


def test_a_week_is_drawn_by_hours_in_as_many_columns_as_were_asked_for(
    database, keeper, now, ended, workers
):
    _, (first, _) = workers
    for day in range(6):
        ended(now - timedelta(days=day, hours=1), incarnation=first)
    work_off(keeper)

    drawn = lanes.timeline(database, now - timedelta(days=7), now, columns=30)

    assert drawn.column_seconds % 3600 == 0
    assert sum(column.done for lane in drawn.lanes for column in lane.columns) == 6


def test_a_worker_that_did_nothing_yet_has_an_empty_lane_with_its_life(database, now, workers):
    drawn = lanes.timeline(database, now - timedelta(hours=1), now + timedelta(minutes=1))

    assert [(lane.slot, lane.columns, len(lane.lives)) for lane in drawn.lanes] == [
        (0, [], 1),
        (1, [], 1),
    ]
