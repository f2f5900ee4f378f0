"""What dead workers left in the journal is written or, where it was never whole, removed."""

from __future__ import annotations

import os

import pytest

from worker.queue import journal, runs
from worker.queue.claims import Queue
from worker.recovery import journal_replay
from worker.settings import RunSettings


@pytest.mark.parametrize(("only", "is_kept"), [(None, False), (4711, False), (4712, True)])
def test_a_file_that_a_worker_died_over_is_removed(database, tmp_path, only, is_kept):
    partial = tmp_path / ".4711.json.7-7.partial"
    partial.write_bytes(b'{"claim": {"job')
    foreign = tmp_path / ".notes.partial"
    foreign.write_bytes(b"")

    assert journal_replay.replay(database, Queue(database), tmp_path, only=only) == []

    assert partial.exists() is is_kept
    assert foreign.exists()


def test_a_file_that_a_living_worker_is_writing_stays(database, tmp_path, living_worker):
    partial = tmp_path / f".{living_worker}.json.7-7.partial"
    partial.write_bytes(b'{"claim": {"job')
    assert [found for found, _ in journal.half_written(tmp_path)] == [living_worker]

    journal_replay.replay(database, Queue(database), tmp_path)

    assert partial.exists()


@pytest.fixture
def living_worker(database, settings):
    """The incarnation of a worker that lives: this very process."""
    run = runs.start_run(database, RunSettings(database=settings, workers=1, total=1), os.getpid())
    return runs.start_worker(database, run, 0)
