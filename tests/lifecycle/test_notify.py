"""A run that goes wrong tells people by Apprise: once for each thing, with the worst picture."""

from __future__ import annotations

import shutil
import signal
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.lifecycle.conftest import wait_until
from tests.lifecycle.notice_receiver import SECRET, receiver
from tests.lifecycle.pool import workers
from worker.drill.proxy import Proxy
from worker.system.process_tree import ProcessId, descendants, kill

PRYING_TASKS = Path(__file__).with_name("prying_tasks.py")
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def told():
    """Somebody who is told: `url` and what was `heard`."""
    with receiver() as (url, heard):
        yield url, heard


def titles(heard) -> list[str]:
    return [each.what for each in heard]


def test_a_good_run_tells_nobody_anything(launch, queue, tasks, told):
    url, heard = told
    queue.enqueue("noop", {})
    run = launch("--workers", 1, "--tasks", tasks, NIGHTSHIFT_NOTIFY=url)

    assert run.wait() == 0
    assert heard == []


def test_a_run_that_cannot_begin_is_told_with_its_reason(launch, closed_port, told):
    url, heard = told
    away = f"mysql://nobody@127.0.0.1:{closed_port}/nightshift"
    run = launch("--workers", 1, NIGHTSHIFT_NOTIFY=url, DATABASE_URL=away)

    assert run.wait() == 69
    (notice,) = heard
    assert (notice.what, notice.kind) == ("a run ended badly (exit code 69)", "failure")
    assert str(closed_port) in notice.body
    assert SECRET not in run.output + notice.body


def test_a_bad_end_is_told_with_its_summary_and_the_worst_picture(
    launch, queue, tasks, let_go, told
):
    url, heard = told
    queue.enqueue("held_failure", {})
    let_go()
    run = launch("--workers", 1, "--tasks", tasks, "--fail-over", 0, NIGHTSHIFT_NOTIFY=url)

    assert run.wait() == 10
    (notice,) = heard
    assert notice.what.endswith("ended badly (exit code 10)")
    assert "1 failed" in notice.body
    assert "as the test wanted it" in notice.body
    (picture,) = notice.pictures
    assert picture.startswith(PNG)
    assert SECRET not in run.output


def test_runs_that_end_alike_are_told_once_until_one_ends_well(launch, queue, tasks, told):
    url, heard = told

    def run(task: str) -> int:
        queue.enqueue(task, {"succeeds_at": 9, "after": 0})
        over = ("--fail-over", 0, "--max-attempts", 1)
        return launch("--workers", 1, "--tasks", tasks, *over, NIGHTSHIFT_NOTIFY=url).wait()

    assert [run("leaving"), run("leaving"), run("noop"), run("leaving")] == [10, 10, 0, 10]
    assert [title.split()[1] for title in titles(heard)] == ["1", "4"]


def test_a_stall_is_told_once_then_that_it_is_over_then_the_next(
    launch, queue, tasks, let_go, told
):
    url, heard = told
    first, second = queue.enqueue("held", {}), queue.enqueue("held", {})
    run = launch(*("--workers", 1, "--tasks", tasks, "--notify-stall", "2s"), NIGHTSHIFT_NOTIFY=url)
    wait_until(lambda: len(heard) == 1, "the stall is told")
    time_of_ten_looks = time.monotonic() + 2
    wait_until(lambda: time.monotonic() > time_of_ten_looks, "it would have been told again")
    assert len(heard) == 1
    let_go(first)
    wait_until(lambda: len(heard) == 3, "the second stall is told")
    let_go(second)

    assert run.wait() == 0
    whats = [title.partition(" ")[2].partition(" ")[2] for title in titles(heard)]
    assert whats[:3] == ["has stalled", "goes on again", "has stalled"]
    assert "Nothing has finished for 2 s, though 2 jobs could." in heard[0].body


def test_a_stall_because_the_database_is_away_says_so(
    launch, queue, tasks, noted, let_go, told, server
):
    url, heard = told
    queue.enqueue("held", {})
    with closing(Proxy(server.port)) as proxy:
        run = launch(
            *("--workers", 1, "--tasks", tasks, "--notify-stall", "4s"),
            NIGHTSHIFT_NOTIFY=url,
            DATABASE_URL=f"mysql://root@127.0.0.1:{proxy.port}/nightshift_test",
        )
        wait_until(lambda: noted("begun"), "the job has begun")
        proxy.refuse()
        wait_until(lambda: heard, "the stall is told")
        proxy.accept()
        let_go()
        assert run.wait(60) == 0

    assert "The database has not answered for" in heard[0].body


def test_a_lookout_that_is_killed_is_replaced_and_nothing_is_told_twice(
    launch, queue, tasks, let_go, told, database
):
    url, heard = told
    queue.enqueue("held", {})
    run = launch(*("--workers", 1, "--tasks", tasks, "--notify-stall", "1s"), NIGHTSHIFT_NOTIFY=url)
    wait_until(lambda: heard, "the stall is told")

    def helpers() -> list[ProcessId]:
        children = [stat.id for stat in descendants(run.pid) if stat.parent == run.pid]
        return [child for child in children if child not in workers(database)]

    before = helpers()
    # The heart is killed with it: neither may matter.
    for process in before:
        kill(process)
    wait_until(lambda: len(set(helpers()) - set(before)) == 2, "there are new ones")
    long_enough = time.monotonic() + 3
    wait_until(lambda: time.monotonic() > long_enough, "it would have been told again")
    told_so_far = titles(heard)
    let_go()

    assert run.wait() == 0
    assert len(told_so_far) == 1


def test_a_pause_is_no_stall(launch, queue, tasks, told):
    url, heard = told
    queue.enqueue("noop", {})
    launch("pause", "--reason", "a test").wait()
    run = launch(*("--workers", 1, "--tasks", tasks, "--notify-stall", "3s"), NIGHTSHIFT_NOTIFY=url)
    wait_until(lambda: "paused by" in run.stderr, "the run knows of the pause")
    long_enough = time.monotonic() + 5
    wait_until(lambda: time.monotonic() > long_enough, "a stall would have been told")
    told_in_the_pause = list(heard)
    launch("resume").wait()

    assert run.wait() == 0
    assert told_in_the_pause == []


def test_a_new_group_is_told_once_by_whichever_run_with_a_picture(
    launch, queue, tasks, let_go, told
):
    url, heard = told
    let_go()

    def run(jobs: int) -> int:
        for _ in range(jobs):
            queue.enqueue("held_failure", {})
        group = ("--notify-group", 3)
        return launch("--workers", 1, "--tasks", tasks, *group, NIGHTSHIFT_NOTIFY=url).wait(60)

    assert run(2) == 0
    assert heard == []
    assert run(1) == 0
    assert run(3) == 0
    (notice,) = heard
    assert notice.what.endswith("has a new failure group")
    assert "3 jobs of task held_failure failed so:" in notice.body
    assert "as the test wanted it" in notice.body
    assert notice.pictures[0].startswith(PNG)


def test_a_run_that_will_not_be_ready_is_told_once(launch, queue, tasks, told):
    url, heard = told
    for _ in range(600):
        queue.enqueue("napping", {"seconds": 0.3})
    run = launch(
        *("--workers", 1, "--tasks", tasks, "--max-runtime", "90s", "--lease", "3s"),
        *("--notify-stall", "12s"),
        NIGHTSHIFT_NOTIFY=url,
    )
    wait_until(lambda: heard, "it is told", seconds=60)
    run.signal(signal.SIGTERM)

    assert run.wait() == 0
    (notice,) = heard
    assert notice.what.endswith("will not be ready in time")
    assert "jobs to go: at this rate they take about" in notice.body


def test_a_run_whose_time_is_over_with_jobs_left_is_told(launch, queue, tasks, told):
    url, heard = told
    for _ in range(100):
        queue.enqueue("napping", {"seconds": 0.5})
    run = launch("--workers", 1, "--tasks", tasks, "--max-runtime", "4s", NIGHTSHIFT_NOTIFY=url)

    assert run.wait() == 0
    assert heard[-1].what.endswith("was not ready in time")
    assert " pending" in heard[-1].body


@pytest.mark.parametrize("kind", ["closed", "silent"])
def test_nobody_who_listens_changes_nothing_and_is_said_once(
    launch, queue, tasks, closed_port, kind
):
    release = threading.Event()
    queue.enqueue("leaving", {})
    with receiver(lambda: release.wait(60)) as (silent, _):
        url = silent if kind == "silent" else f"json://127.0.0.1:{closed_port}/{SECRET}"
        began = time.monotonic()
        run = launch(
            *("--workers", 1, "--tasks", tasks, "--max-attempts", 1, "--fail-over", 0),
            *("--notify-group", 1),
            NIGHTSHIFT_NOTIFY=url,
        )
        code = run.wait(80)
        took = time.monotonic() - began
        release.set()

    assert code == 10
    assert took < 60
    assert run.stderr.count("was not told") == 1
    assert SECRET not in run.output


def test_no_job_driver_browser_or_argument_holds_the_url(launch, queue, tmp_path, told):
    url, _ = told
    tasks = shutil.copy(PRYING_TASKS, tmp_path / "prying.py")
    queue.enqueue("pry", {})
    run = launch(
        *("--workers", 1, "--tasks", tasks, "--notify", "env:ON_CALL"),
        ON_CALL=url,
        NIGHTSHIFT_NOTIFY=url,
    )

    assert run.wait() == 0
    seen = (tmp_path / "seen.json").read_text()
    assert "PATH=" in seen
    assert SECRET not in seen
    assert SECRET not in run.output
