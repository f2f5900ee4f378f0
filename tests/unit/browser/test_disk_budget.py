"""A job's files are counted from its beginning, and only while it runs."""

from __future__ import annotations

import time

import pytest

from worker.browser import disk_budget
from worker.browser.disk_budget import DiskBudget, size_of

MB = 1_000_000


@pytest.fixture
def budget(tmp_path):
    (tmp_path / "downloads").mkdir()
    killed = []
    budget = DiskBudget(tmp_path, 1, lambda: killed.append(time.monotonic()), every=0.02)
    budget.killed = killed
    yield budget
    budget.close()


def look(budget: DiskBudget, seconds: float = 5) -> None:
    """Wait until the thread has looked once more."""
    with budget._lock:
        budget._least = None
    deadline = time.monotonic() + seconds
    while budget._least is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def wait_for_kill(budget: DiskBudget, seconds: float = 5) -> None:
    deadline = time.monotonic() + seconds
    while not budget.killed:
        assert time.monotonic() < deadline, "nobody was killed"
        time.sleep(0.005)


def test_downloads_count_from_their_first_byte(budget, tmp_path):
    (tmp_path / "downloads" / "big").write_bytes(b"x" * 2 * MB)
    budget.begin()

    wait_for_kill(budget)

    assert "has written 2 MB to disk, the limit is 1 MB" in str(budget.exceeded)


def test_whatever_else_is_written_counts_from_the_jobs_beginning(budget, tmp_path):
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "before").write_bytes(b"x" * 3 * MB)
    budget.begin()
    look(budget)
    assert budget.exceeded is None

    (tmp_path / "profile" / "cache").write_bytes(b"x" * 2 * MB)
    wait_for_kill(budget)


def test_a_trace_counts_for_itself(budget, tmp_path, monkeypatch):
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "big").write_bytes(b"x" * 3 * MB)
    budget.begin()
    look(budget)
    look(budget)
    assert budget.exceeded is None

    monkeypatch.setattr(disk_budget, "MAX_TRACE_MB", 2)
    wait_for_kill(budget)
    assert "the job's trace has 3 MB, the limit is 2 MB; run it without --trace" in str(
        budget.exceeded
    )


def test_between_jobs_nobody_is_killed(budget, tmp_path):
    budget.begin()
    look(budget)
    budget.end()
    # As the thread does, had it begun to look before the end.
    budget._look(2 * MB, 0)
    assert budget.killed == []

    budget.begin()
    look(budget)
    assert budget.exceeded is None


def test_a_job_is_killed_once(budget, tmp_path):
    (tmp_path / "downloads" / "big").write_bytes(b"x" * 2 * MB)
    budget.begin()
    wait_for_kill(budget)
    budget._look(3 * MB, 0)

    assert len(budget.killed) == 1


def test_links_and_vanished_folders_count_nothing(tmp_path):
    (tmp_path / "link").symlink_to("/usr")

    assert size_of(tmp_path) < MB
    assert size_of(tmp_path / "gone") == 0
