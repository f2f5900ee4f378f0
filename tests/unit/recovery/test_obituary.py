"""The evidence of a death is whole, however many find the dead at once."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

from worker import __version__
from worker.database_settings import DatabaseSettings
from worker.models import Claim
from worker.recovery import obituary
from worker.recovery.places import Places

CLAIM = Claim(
    job_id=7,
    fence=3,
    incarnation=11,
    attempt=1,
    max_attempts=3,
    task="order",
    payload="{}",
    timeout_seconds=None,
)


def places(folder: Path) -> Places:
    database = DatabaseSettings(database="db")
    return Places(database, folder / "state", folder / "errors")


def death(reason: str = "its launcher was killed") -> dict:
    return obituary.of_the_swept(CLAIM, 0, reason)


def test_processes_that_find_one_death_at_once_leave_one_folder(tmp_path: Path):
    context = multiprocessing.get_context("fork")
    start = context.Barrier(4)
    writers = [context.Process(target=_find_it, args=(tmp_path, start)) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)

    assert [writer.exitcode for writer in writers] == [0, 0, 0, 0]
    assert [path.name for path in (tmp_path / "errors" / "7").iterdir()] == ["1"]
    facts = facts_of(tmp_path)
    assert (facts["fence"], facts["ending"]) == (3, "its launcher was killed")


def facts_of(folder: Path) -> dict:
    return json.loads((folder / "errors" / "7" / "1" / "error.json").read_bytes())


def test_it_says_when_the_job_began_and_its_worker_died_and_what_they_were(tmp_path: Path):
    died = {"died_at": "2026-01-31T23:10:02.500+00:00", "seconds": 2.0, "browser_version": "156.0"}
    obituary.write(places(tmp_path), CLAIM, death() | died)

    facts = facts_of(tmp_path)
    assert facts["started"] == "2026-01-31T23:10:00.500Z"
    assert facts["finished"] == "2026-01-31T23:10:02.500Z"
    assert (facts["nightshift_version"], facts["browser_version"]) == (__version__, "156.0")


def test_a_worker_that_nobody_saw_die_is_told_of_by_what_is_known(tmp_path: Path):
    obituary.write(places(tmp_path), CLAIM, death())

    facts = facts_of(tmp_path)
    assert facts["started"] is None
    assert facts["finished"].endswith("Z")
    assert facts["browser_version"] is None


def test_another_death_moves_the_one_before_aside(tmp_path: Path):
    assert obituary.write(places(tmp_path), CLAIM, death()) == "7/1"
    assert obituary.write(places(tmp_path), CLAIM, death("it was lost")) == "7/1"

    names = {path.name for path in (tmp_path / "errors" / "7").iterdir()}
    assert names == {"1", "1.1"}


def test_what_a_killed_writer_left_is_not_taken_for_whole(tmp_path: Path):
    obituary.write(places(tmp_path), CLAIM, death())
    (tmp_path / "errors" / "7" / "1" / "output.log").unlink()

    obituary.write(places(tmp_path), CLAIM, death())

    assert (tmp_path / "errors" / "7" / "1" / "output.log").exists()


def _find_it(folder: Path, start) -> None:
    start.wait(30)
    assert obituary.write(places(folder), CLAIM, death()) == "7/1"
