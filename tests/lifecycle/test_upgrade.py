"""Nightshift may be upgraded in its place while a run goes on: the run keeps what it began with."""

from __future__ import annotations

import shutil

from tests.lifecycle.conftest import REPO, wait_until
from tests.lifecycle.pool import heart_of, worker_of
from worker.system.process_tree import kill


def test_a_run_goes_on_with_its_own_statements_when_others_are_installed_meanwhile(
    launch, tmp_path, database, queue, tasks, noted, let_go
):
    installed = tmp_path / "installed"
    for folder in ("worker", "sql"):
        shutil.copytree(REPO / folder, installed / folder)
    shutil.copy(REPO / "launcher.py", installed)
    job = queue.enqueue("held", {})
    program = (str(installed / "launcher.py"),)
    run = launch("--workers", 1, "--tasks", tasks, "--json", program=program)
    wait_until(lambda: len(noted("begun")) == 1, "the job is being done")

    shutil.rmtree(installed / "sql" / "queries")
    heart, victim = heart_of(run.pid, database), worker_of(database, job)
    kill(heart)
    kill(victim)

    wait_until(lambda: len(noted("begun")) == 2, "the job is being redone")
    let_go()
    assert run.wait() == 0
    assert run.summary["done"] == 1
