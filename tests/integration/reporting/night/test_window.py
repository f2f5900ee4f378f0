"""Which night is meant, when nobody says it, or says it in one way or another."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest

from worker.errors import UsageError
from worker.reporting.night import window


def test_a_run_is_told_from_its_start_to_its_end(database, invented):
    found = window.of_run(database, invented.run_id, UTC)

    assert (found.start, found.end) == (invented.start, invented.end)
    assert found.is_past
    assert found.command == f"launcher.py report --run {invented.run_id}"


def test_a_run_that_is_not_there_is_refused_with_the_next_command(database, invented):
    with pytest.raises(UsageError, match=r"there is no run 999; list them: launcher\.py runs"):
        window.of_run(database, 999, UTC)


def test_without_a_word_it_is_the_night_that_goes_on_or_the_latest_run(database, invented):
    now = database.fetch_all("database_time")[0]["now"]
    found = window.last_night(database, UTC)

    if found.run is None:
        assert found.start.hour == 18
        assert now - timedelta(days=1) < found.start <= now
    else:
        assert found.run.run_id == invented.run_id


def test_when_nothing_has_ended_since_18_the_latest_run_that_did_something_is_meant(
    database, invented
):
    database.run_statement("UPDATE runs SET started_at = started_at - INTERVAL 3 DAY")
    for table in ("work_queue", "job_attempts"):
        database.run_statement(f"UPDATE {table} SET finished_at = finished_at - INTERVAL 3 DAY")
    database.run_statement("DELETE FROM task_rollups")
    database.run_statement("UPDATE rollup_writer SET counted_until = UTC_TIMESTAMP()")

    assert window.last_night(database, UTC).run.run_id == invented.run_id


def test_since_counts_all_runs_that_were_at_work(database, invented):
    assert len(window.since(database, "3d", UTC).runs) == 3
