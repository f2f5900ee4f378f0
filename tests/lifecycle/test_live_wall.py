"""The live wall over a real pool: pictures come while somebody looks, and go with them."""

from __future__ import annotations

import json
import signal

import pytest

from tests.lifecycle.conftest import processes_of, wait_until
from worker.system import live_wall


@pytest.fixture
def wall(settings, tmp_path):
    return live_wall.folder_of(tmp_path / "state", settings.key)


@pytest.fixture
def look(wall):
    """Look at the wall until something holds."""

    def look(condition, what):
        def seen():
            live_wall.ask(wall)
            return condition()

        wait_until(seen, what, every=0.2)

    return look


def pictures(wall):
    if not wall.exists():
        return []
    found = (path.name.removesuffix(live_wall.SUFFIX) for path in wall.glob("*.picture"))
    return [picture for name in found if (picture := live_wall.read(wall, int(name)))]


def pulse(database):
    (row,) = database.run_statement("SELECT pulse FROM runs ORDER BY id DESC LIMIT 1")
    return json.loads(row["pulse"])["workers"] if row["pulse"] else []


def test_pictures_come_while_somebody_looks_and_go_with_them(
    launch, queue, tasks, noted, let_go, wall, look, database
):
    job_id = queue.enqueue("held_page", {})
    run = launch("run", "--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    assert pictures(wall) == []

    look(lambda: any(each.image for each in pictures(wall)), "a picture has come")
    assert {each.job_id for each in pictures(wall)} == {job_id}
    look(lambda: any(each["memory_mb"] for each in pulse(database)), "the memory is told")
    first = pictures(wall)[0].taken_at
    look(lambda: pictures(wall) and pictures(wall)[0].taken_at > first, "another one has come")
    wait_until(lambda: not pictures(wall), "nobody looks, and the pictures are gone")

    let_go()
    assert run.wait() == 0


def test_a_worker_that_ended_takes_its_picture_along(
    launch, queue, tasks, noted, let_go, wall, look
):
    queue.enqueue("held_page", {})
    run = launch("run", "--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    look(lambda: pictures(wall), "a picture has come")

    let_go()
    look(lambda: not run.is_running, "the run has ended")

    assert pictures(wall) == []


def test_what_a_killed_run_left_is_removed_by_the_next(
    launch, queue, tasks, noted, let_go, wall, look, tmp_path
):
    queue.enqueue("held_page", {})
    run = launch("run", "--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    look(lambda: pictures(wall), "a picture has come")
    run.signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not processes_of(tmp_path), "its whole family is gone")
    wait_until(lambda: not live_wall.is_asked(wall), "nobody looks")
    assert pictures(wall)

    let_go()
    again = launch("run", "--workers", 1, "--tasks", tasks)

    assert again.wait() == 0
    assert pictures(wall) == []


def test_a_run_can_refuse_pictures(launch, queue, tasks, noted, let_go, wall, look, database):
    queue.enqueue("held_page", {})
    run = launch("run", "--workers", 1, "--tasks", tasks, "--no-live-pictures", "--lease", "3s")
    wait_until(lambda: noted("begun"), "the job has begun")

    look(lambda: any(each["job_id"] for each in pulse(database)), "the run has beaten")
    let_go()
    look(lambda: not run.is_running, "the run has ended")

    assert pictures(wall) == []
