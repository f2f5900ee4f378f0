"""One run per database, queue and host."""

from __future__ import annotations

import multiprocessing
from contextlib import contextmanager

import pytest

from worker.database_settings import DatabaseSettings
from worker.supervisor.run_lock import RunLock

DATABASE = DatabaseSettings(database="night")


@contextmanager
def closing_lock(lock):
    yield lock
    lock.release()


def _try(folder, queues, answer):
    lock = RunLock(folder, DATABASE, queues)
    is_free = lock.try_acquire()
    answer.put((is_free, [path.name for path in lock.paths if not is_free]))


@pytest.fixture
def is_free(tmp_path):
    """Try the lock in another process: a record lock never stands in its own holder's way."""

    def is_free(*queues):
        context = multiprocessing.get_context("fork")
        answer = context.Queue()
        child = context.Process(target=_try, args=(tmp_path, queues, answer))
        child.start()
        found = answer.get(timeout=20)
        child.join()
        return found[0]

    return is_free


def test_runs_of_different_queues_do_not_stand_in_each_others_way(tmp_path, is_free):
    lock = RunLock(tmp_path, DATABASE, ("a", "b"))
    assert lock.try_acquire()

    assert is_free("default")
    assert is_free("c", "default")
    assert not is_free("b", "c")
    assert is_free("c")  # What it had of the others, it gave back.
    lock.release()
    assert is_free("b", "c")


def test_the_default_queue_has_the_lock_that_there_always_was(tmp_path):
    lock = RunLock(tmp_path, DATABASE)

    assert [path.name for path in lock.paths] == [f"{DATABASE.key}.lock"]


def test_hosts_that_are_named_by_hand_may_share_a_folder(tmp_path, is_free, monkeypatch):
    monkeypatch.setenv("NIGHTSHIFT_HOST", "night-1")
    with closing_lock(RunLock(tmp_path, DATABASE)) as lock:
        assert lock.try_acquire()
        assert not is_free("default")

        monkeypatch.setenv("NIGHTSHIFT_HOST", "night/2")
        assert is_free("default")
        monkeypatch.delenv("NIGHTSHIFT_HOST")
        assert is_free("default")
        # Whoever stops the server asks for all of them.
        assert lock.path in RunLock.of_all_queues(tmp_path, DATABASE).paths


def test_a_queue_of_any_name_has_a_file(tmp_path):
    with closing_lock(RunLock(tmp_path, DATABASE, ("a:b@c",))) as lock:
        assert lock.try_acquire()


def test_whoever_stops_the_server_sees_runs_of_all_queues(tmp_path):
    with closing_lock(RunLock(tmp_path, DATABASE, ("a",))) as lock:
        lock.try_acquire()

        assert len(RunLock.of_all_queues(tmp_path, DATABASE).paths) == 2
