"""Old evidence goes by age and by budget, the oldest first; what is being written stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from worker.evidence import prune
from worker.evidence.prune import FRESH_SECONDS

HOUR = 3600.0
DAY = 24 * HOUR


@pytest.fixture
def evidence(tmp_path):
    """Lay down an attempt's evidence, as old as wanted; the folder is tmp_path/errors."""

    def evidence(job: int, attempt: int | str = 1, age: float = 0.0, size: int = 8192) -> Path:
        folder = tmp_path / "errors" / str(job) / str(attempt)
        folder.mkdir(parents=True)
        (folder / "page.html").write_bytes(b"x" * size)
        touch(folder, age)
        return folder

    return evidence


def touch(folder, age):
    then = time.time() - age
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (then, then), follow_symlinks=False)


def carry_out(tmp_path, **limits):
    return list(prune.carry_out(prune.plan(tmp_path / "errors", **limits)))


def test_what_is_older_goes_and_its_empty_job_folder_with_it(tmp_path, evidence):
    old, new = evidence(1, age=31 * DAY), evidence(2, age=29 * DAY)
    first, second = evidence(3, 1, age=40 * DAY), evidence(3, 2, age=DAY)

    gone = carry_out(tmp_path, older_than_seconds=30 * DAY)

    assert {folder.path for folder in gone} == {old, first}
    assert all(folder.size >= 8192 for folder in gone)
    assert not old.parent.exists()
    assert new.exists()
    assert list(second.parent.iterdir()) == [second]


def test_the_oldest_go_until_the_rest_fits_the_budget(tmp_path, evidence):
    folders = [evidence(job, age=job * DAY, size=100_000) for job in range(1, 6)]

    pruning = prune.plan(tmp_path / "errors", max_bytes=250_000)
    gone = list(prune.carry_out(pruning))

    assert [folder.path for folder in gone] == [folders[4], folders[3], folders[2]]
    assert pruning.kept == 2
    assert 200_000 <= pruning.kept_bytes <= 250_000
    assert not pruning.is_over_budget
    assert prune.plan(tmp_path / "errors", max_bytes=250_000).doomed == []


def test_what_may_be_in_the_making_stays_whatever_the_budget_and_the_age(tmp_path, evidence):
    fresh = evidence(1, age=0.0)
    # The folder is old, but a file in it is being written.
    growing = evidence(2, age=DAY)
    (growing / ".trace.zip.partial").write_bytes(b"x")
    touch(evidence(3, age=DAY), -HOUR)

    pruning = prune.plan(tmp_path / "errors", older_than_seconds=0.0, max_bytes=0)

    assert (pruning.doomed, pruning.kept, pruning.is_over_budget) == ([], 3, True)
    assert fresh.exists()
    assert FRESH_SECONDS > 20


def test_links_are_removed_but_never_followed(tmp_path, evidence):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("kept")
    old = evidence(1, age=DAY)
    (old / "link").symlink_to(outside)
    (old / "file").symlink_to(outside / "precious")
    touch(old, DAY)
    (tmp_path / "errors" / "2").symlink_to(outside)
    (old.parent / "3").symlink_to(outside)

    gone = carry_out(tmp_path, older_than_seconds=HOUR)

    assert [folder.path for folder in gone] == [old]
    assert (outside / "precious").read_text() == "kept"
    assert (tmp_path / "errors" / "2").is_symlink()


def test_what_is_not_evidence_of_a_job_stays(tmp_path, evidence):
    evidence(1, age=DAY)
    keep, notes = tmp_path / "errors" / ".gitkeep", tmp_path / "errors" / "notes"
    keep.touch()
    (notes / "1").mkdir(parents=True)
    touch(notes, DAY)

    carry_out(tmp_path, older_than_seconds=0.0)

    assert sorted((tmp_path / "errors").iterdir()) == [keep, notes]


def test_what_a_killed_prune_has_left_is_finished_by_the_next(tmp_path, evidence):
    half = evidence(1, age=DAY)
    aside = half.rename(half.with_name(".pruned-1-77"))
    (aside / "page.html").unlink()
    (tmp_path / "errors" / "2").mkdir()

    gone = carry_out(tmp_path, older_than_seconds=365 * DAY)

    assert [folder.path for folder in gone] == [aside]
    assert list((tmp_path / "errors").iterdir()) == []


def test_another_prune_at_the_same_time_is_no_error(tmp_path, evidence):
    old = evidence(1, age=DAY)
    pruning = prune.plan(tmp_path / "errors", older_than_seconds=HOUR)
    carry_out(tmp_path, older_than_seconds=HOUR)

    assert list(prune.carry_out(pruning)) == []
    assert not old.exists()


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    pruning = prune.plan(tmp_path / "nowhere", older_than_seconds=0.0)

    assert (pruning.doomed, pruning.kept, pruning.kept_bytes) == ([], 0, 0)
