"""Roll-ups hold what ended, each once: however often they are counted, by whom, and when."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.conftest import because
from tests.integration.reporting.conftest import (
    counted_by_hand,
    counted_by_rollups,
    told,
    work_off,
)
from worker.database.client import Database
from worker.history import archive
from worker.history.archive import Label
from worker.models import Outcome
from worker.reporting import figures, minutes
from worker.reporting.rollups import Rollups
from worker.reporting.spans import HOUR, MINUTE

HOURS = timedelta(hours=1)


def hours_ago(now, count, **more):
    return MINUTE.floor(now) - count * HOURS + timedelta(**more)


def test_a_minute_holds_what_ended_in_it_by_task_and_outcome(
    database, keeper, now, ended, attempted
):
    minute = hours_ago(now, 2)
    ended(minute, seconds=3.5, waited=30.0)
    ended(minute + timedelta(seconds=59.9), seconds=9.0, attempts=3)
    ended(minute + timedelta(seconds=60), task="other")
    job = ended(minute + timedelta(minutes=5), task="other")
    attempted(job, minute + timedelta(seconds=10), "blocked", fence=10, failed=False)

    work_off(keeper)

    first, second, last = figures.per_minute(database, minute, now)
    assert (first.start, first.done, first.recovered, first.again) == (minute, 2, 1, 1)
    assert first.busy_seconds == pytest.approx(3.5 + 9 + 3)
    assert first.outcomes[Outcome.BLOCKED].wait_seconds == pytest.approx(7)
    assert first.durations.total == 2
    assert 3 < first.durations.percentile(0.5) <= 4
    assert first.waits.total == 3
    assert (second.start, second.done) == (minute + timedelta(minutes=1), 1)
    assert last.start == minute + timedelta(minutes=5)


def test_jobs_that_failed_for_good_are_told_from_attempts_that_are_repeated(
    database, keeper, now, queue, claim_as
):
    for _ in range(3):
        queue.enqueue("visit", {})
    queue.retry(claim_as(), because("HTTP 503"), delay_seconds=100)
    queue.fail(claim_as(), because("no such page"))
    queue.hand_back(claim_as(), because("stopped"), delay_seconds=100)

    total = figures.totals(database, now, now + timedelta(minutes=2))

    assert (total.done, total.failed, total.again, total.handed_back) == (0, 1, 1, 1)


def test_counting_again_changes_nothing(database, keeper, now, ended):
    for number in range(200):
        ended(hours_ago(now, 30, minutes=11 * number % 1700), seconds=number / 7)
    work_off(keeper)
    before = [told(database, table, span) for table, span in TABLES]

    assert keeper.rebuild(hours_ago(now, 40))
    work_off(Rollups.of(database, "another"))

    assert [told(database, table, span) for table, span in TABLES] == before
    assert counted_by_rollups(database) == counted_by_hand(database)


TABLES = [
    (table, span)
    for table in ("task_rollups", "worker_rollups")
    for span in ("minute", "hour", "day")
]


def test_a_commit_that_comes_late_is_counted_with_the_next_look(
    database, connect, keeper, now, ended, monkeypatch
):
    late = MINUTE.floor(now) - timedelta(minutes=2)
    ended(late)
    clock = Clock(database, monkeypatch)
    clock.set(late + timedelta(seconds=64))
    work_off(keeper)
    assert counted(database, late) == 1

    # It says that it ended in that minute, and is seen only now.
    ended(late + timedelta(seconds=1))
    work_off(keeper)
    assert counted(database, late) == 1

    clock.set(late + timedelta(seconds=124))
    work_off(keeper)
    assert counted(database, late) == 2
    assert len(told(database)) == 1


def counted(database, minute):
    rows = database.run_statement(
        "SELECT SUM(attempts) AS n FROM task_rollups WHERE span = 'minute' AND start = %(start)s",
        {"start": minute},
    )
    return int(rows[0]["n"] or 0)


class Clock:
    """Lets the duty believe in another time than the server's."""

    def __init__(self, database, monkeypatch):
        self._shift = timedelta(0)
        self._database = database
        fetch_all = Database.fetch_all

        def shifted(db, name, /, *args, **params):
            rows = fetch_all(db, name, *args, **params)
            if name == "read_writer":
                rows[0]["now"] += self._shift
            return rows

        monkeypatch.setattr(Database, "fetch_all", shifted)

    def set(self, moment):
        self._shift = moment - self._database.fetch_all("database_time")[0]["now"]


def test_archived_jobs_and_their_attempts_stay_counted(
    database, keeper, now, ended, attempted, queue
):
    minute = hours_ago(now, 2)
    jobs = [ended(minute + timedelta(seconds=n), task=f"task {n % 3}") for n in range(20)]
    for job in jobs[:5]:
        attempted(job, minute, "retry", fence=0, failed=False)
    finished = archive.finished_before(database, 0.0, ("done",))
    before = counted_by_hand(database)
    archive.move(
        database, jobs[:10], Label("me", "a test"), until=finished.before, statuses=("done",)
    )
    assert counted_by_hand(database) == before

    work_off(keeper)

    assert counted_by_rollups(database) == before


def test_a_done_job_that_is_done_again_counts_twice_and_never_less(
    database, keeper, now, queue, claim_as
):
    job = queue.enqueue("visit", {})
    queue.complete(claim_as(), {})
    later = now + timedelta(minutes=1)
    database.execute("repeat_done_jobs", ids=(job,), until=later)
    assert figures.totals(database, now, later).done == 1

    claim = claim_as()
    assert figures.totals(database, now, later).done == 1

    queue.complete(claim, {})
    assert figures.totals(database, now, later).done == 2


def test_minutes_that_passed_while_nobody_counted_are_caught_up(database, keeper, now, ended):
    for day in range(20):
        ended(hours_ago(now, 24 * day + 3))
    beats = 0
    while keeper.beat():
        beats += 1

    assert counted_by_rollups(database) == counted_by_hand(database)
    # Twenty days are caught up in as many steps as there are hours and days with something in them.
    assert beats < 20 * 2 + 20
    state = figures.state(database)
    assert now - state.counted_until < timedelta(minutes=3)


def test_a_busy_minute_is_read_in_parts_and_written_whole(database, now, ended, monkeypatch):
    monkeypatch.setattr(minutes, "ROWS_AT_ONCE", 7)
    minute = hours_ago(now, 1)
    for number in range(40):
        ended(minute + timedelta(seconds=number))
    # More at one moment than a statement is to read.
    for _ in range(20):
        ended(minute + timedelta(seconds=50))
    keeper = Rollups.of(database, "a test")
    keeper._rows = 7

    work_off(keeper)

    (figure,) = figures.per_minute(database, minute, now)
    assert figure.done == 60


def test_what_has_no_rollup_yet_is_counted_on_the_spot(database, keeper, now, ended):
    ended(hours_ago(now, 1))
    work_off(keeper)
    ended(now)

    assert figures.totals(database, hours_ago(now, 2), now + timedelta(seconds=1)).done == 2
    assert len(figures.per_minute(database, hours_ago(now, 2), now + timedelta(seconds=1))) == 2


def test_old_minutes_thin_out_to_hours_and_nothing_is_lost(database, keeper, now, ended):
    for number in range(50):
        ended(hours_ago(now, 24 * 9, minutes=3 * number), task=f"task {number % 2}", seconds=number)
    ended(hours_ago(now, 3))
    total = figures.totals(database, hours_ago(now, 24 * 10), now)
    work_off(keeper)

    assert len(told(database)) == 1
    again = figures.totals(database, hours_ago(now, 24 * 10), now)
    assert again.outcomes == total.outcomes
    hours = figures.series(database, hours_ago(now, 24 * 10), now, HOUR)
    assert sum(hour.done for hour in hours) == 51


def test_a_rebuild_brings_thinned_figures_back_as_they_were(database, keeper, now, ended):
    for number in range(30):
        ended(hours_ago(now, 24 * 9, minutes=7 * number))
    work_off(keeper)
    before = [told(database, table, span) for table, span in TABLES]

    assert keeper.rebuild(hours_ago(now, 24 * 9, hours=1))
    work_off(keeper)

    assert [told(database, table, span) for table, span in TABLES] == before
