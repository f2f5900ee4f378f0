"""Which groups people hear of: new ones that are large enough, once, whichever run saw them."""

from __future__ import annotations

import pytest

from tests.conftest import because
from worker.history import dead_letters
from worker.notices import new_groups
from worker.queue import runs
from worker.settings import RunSettings

GROUP, OTHER = "aaaa000000000001", "aaab000000000002"


@pytest.fixture
def run_id(database, settings):
    return runs.start_run(database, RunSettings(settings, workers=1), 1)


@pytest.fixture
def fail(queue, claim_as):
    """Let jobs fail in a group."""

    def fail(group: str, times: int) -> None:
        for _ in range(times):
            job = queue.enqueue("visit", {"url": "https://a.example"})
            queue.fail(claim_as(), because("no", "no", group, f"{job}/1", None, f"label {group}"))

    return fail


def names(found) -> list[tuple[str, int]]:
    return [(group.fingerprint, group.jobs) for group in found]


def test_groups_that_are_large_enough_are_taken_once_the_largest_first(database, run_id, fail):
    fail(GROUP, 2)
    fail(OTHER, 3)
    fail("aaac000000000003", 1)

    assert names(new_groups.take(database, run_id, 2)) == [(OTHER, 3), (GROUP, 2)]
    assert new_groups.take(database, run_id, 2) == []
    assert names(new_groups.take(database, run_id, 1)) == [("aaac000000000003", 1)]


def test_a_group_that_could_not_be_told_comes_again(database, run_id, fail):
    fail(GROUP, 2)
    new_groups.give_back(database, new_groups.take(database, run_id, 2))

    assert names(new_groups.take(database, run_id, 2)) == [(GROUP, 2)]


def test_muted_groups_and_those_of_former_nights_are_left_out(database, run_id, fail):
    fail(GROUP, 2)
    fail(OTHER, 2)
    dead_letters.mute(database, GROUP, by="me", reason="known")
    database.run_statement(
        "UPDATE failure_groups SET first_seen = first_seen - INTERVAL 2 DAY "
        "WHERE fingerprint = %(group)s",
        {"group": OTHER},
    )

    assert new_groups.take(database, run_id, 2) == []


def test_jobs_that_were_done_after_all_do_not_count(database, run_id, fail, queue):
    fail(GROUP, 2)
    database.run_statement("UPDATE work_queue SET status = 'pending' ORDER BY id LIMIT 1")

    assert new_groups.take(database, run_id, 2) == []


def test_the_picture_is_that_of_the_runs_largest_group(database, run_id, fail, tmp_path):
    fail(GROUP, 1)
    fail(OTHER, 2)
    (tmp_path / "3" / "1").mkdir(parents=True)
    (tmp_path / "3" / "1" / "screenshot.png").write_bytes(b"a picture")

    assert new_groups.picture_of(database, GROUP, tmp_path) is None
    assert new_groups.worst_picture(database, run_id, tmp_path) == (
        tmp_path / "3" / "1" / "screenshot.png"
    )
