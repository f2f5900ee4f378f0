"""Browsers are replaced before they grow old, and no process or folder outlives its worker."""

from __future__ import annotations

import os
import signal
from itertools import groupby

import pytest

from tests.lifecycle.conftest import wait_until
from tests.lifecycle.pool import browser_of, driver_of, incarnations, worker_of
from worker.system.process_tree import (
    all_processes,
    descendants,
    group_members,
    identify,
    is_alive,
    kill,
    read_stat,
)


@pytest.mark.parametrize(
    ("flags", "shares"),
    # Memory is looked at after ten jobs, then every five seconds at most; a browser has always
    # more than a megabyte.
    [(("--recycle-jobs", 3), [3, 3, 1]), (("--recycle-mb", 1), [10, 3])],
    ids=["by jobs", "by memory"],
)
def test_a_browser_is_replaced_when_it_has_done_its_share(
    launch, database, queue, tasks, noted, flags, shares
):
    queue.enqueue_many("which_browser", [{}] * sum(shares))

    run = launch("--workers", 1, "--tasks", tasks, *flags, "--json")

    assert run.wait() == 0
    assert run.summary["done"] == sum(shares)
    found = [len(list(jobs)) for _, jobs in groupby(pid for _, pid in noted("browsers"))]
    assert found == shares
    assert incarnations(database) == 1


def test_what_a_killed_launcher_could_not_take_with_it_is_removed_by_the_next(
    launch, database, queue, tasks, noted, let_go, tmp_path, request
):
    job = queue.enqueue("held_page", {})
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    worker = worker_of(database, job)
    browser = browser_of(worker)
    request.addfinalizer(lambda: [kill(member) for member in group_members(browser)])
    # A browser that is stopped, and whose driver and worker cannot end it, ends for nobody.
    os.kill(worker.pid, signal.SIGSTOP)
    os.killpg(browser.pid, signal.SIGSTOP)
    # Only now: whatever is stopped starts nothing more.
    members = group_members(browser)
    kill(driver_of(worker))
    run.signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not is_alive(worker), "its worker is gone")
    (folder,) = (tmp_path / "state" / "tmp").iterdir()
    assert all(map(is_alive, members))
    let_go()

    after = launch("--workers", 1, "--tasks", tasks)

    assert after.wait() == 0
    assert f"ended {len(members)} processes that dead workers had left" in after.stderr
    assert not any(map(is_alive, members))
    assert not folder.exists()
    assert list(folder.parent.iterdir()) == []
    assert queue.get(job)["status"] == "done"


def test_the_launcher_adopts_the_orphaned_and_buries_the_dead(
    launch, database, queue, tasks, noted, let_go
):
    job = queue.enqueue("orphaning", {})
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    worker = worker_of(database, job)
    family = [worker, *(stat.id for stat in descendants(worker.pid))]
    ((_, pid),) = noted("orphans")
    orphan = read_stat(pid)
    assert orphan is not None
    assert orphan.parent == run.pid

    kill(orphan.id)
    kill(worker)
    wait_until(lambda: len(noted("begun")) == 2, "a new worker has begun the job again")

    # Not even zombies are left of them.
    family.append(orphan.id)
    wait_until(lambda: not [p for p in family if read_stat(p.pid)], "all are reaped", seconds=15)
    wait_until(lambda: not zombies_of(run.pid), "no child of the launcher is a zombie", seconds=15)
    kill(identify(noted("orphans")[-1][1]))
    let_go()
    assert run.wait() == 0


def zombies_of(pid: int) -> list[int]:
    return [stat.pid for stat in all_processes() if stat.parent == pid and stat.is_dead]
