"""`launcher.py sweep` and `migrate`: putting the queue and its schema right by hand."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker.database import migrations
from worker.models import Ending, Outcome
from worker.queue import journal
from worker.recovery import deaths


@pytest.fixture
def cli(settings, tmp_path):
    # The tests' server may have been started a moment ago; its grace is tested apart.
    return partial(
        run_command, tmp_path, DATABASE_URL=url_of(settings), NIGHTSHIFT_SERVER_GRACE="0"
    )


@pytest.fixture
def abandoned(queue, claim_as, expire):
    """Two jobs whose workers vanished: the first has attempts left, the second has none."""
    jobs = queue.enqueue("visit", {}), queue.enqueue("visit", {}, max_attempts=1)
    for _ in jobs:
        expire(claim_as())
    return jobs


def test_a_sweep_says_what_it_did(cli, queue, abandoned):
    done = cli("sweep", "--server-grace", "0")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "put 1 job back to pending and 1 to error\n"
    assert [queue.get(job)["status"] for job in abandoned] == ["pending", "error"]
    assert [queue.history(job)[0]["outcome"] for job in abandoned] == ["swept", "swept"]


def test_a_dry_sweep_says_it_and_does_nothing(cli, queue, abandoned):
    done = cli("sweep", "--server-grace", "0", "--dry-run", "-v")

    assert done.returncode == 0
    *jobs, last = done.stdout.splitlines()
    assert last == "would put 1 job back to pending and 1 to error"
    assert [line.split(":")[0] for line in jobs] == [f"job {job}" for job in abandoned]
    assert [queue.get(job)["status"] for job in abandoned] == ["in_progress"] * 2


def test_a_sweep_tells_job_by_job_when_asked(cli, abandoned):
    lines = cli("sweep", "--server-grace", "0", "-v").stdout.splitlines()

    assert lines[0].startswith(f"job {abandoned[0]}: pending: worker 0 vanished: ")
    assert lines[1].startswith(f"job {abandoned[1]}: error: worker 0 vanished: ")
    assert lines[1].endswith("(attempt 1 of 1, no more)")


def test_a_sweep_as_json_lists_the_jobs(cli, abandoned):
    told = json.loads(cli("sweep", "--server-grace", "0", "--json").stdout)

    assert [(item["job_id"], item["status"]) for item in told] == [
        (abandoned[0], "pending"),
        (abandoned[1], "error"),
    ]


def test_a_sweep_leaves_living_claims_alone(cli, queue, claim_as):
    job = queue.enqueue("visit", {})
    claim_as()

    assert cli("sweep").stdout == "nothing to sweep: every job in progress has a live worker\n"
    assert queue.get(job)["status"] == "in_progress"


@pytest.fixture
def left_in_journal(queue, claim_as, settings, tmp_path):
    """A job whose worker died after it was done, with nothing but the journal to tell of it."""
    job = queue.enqueue("visit", {})
    claim = claim_as(incarnation=4711)
    folder = journal.folder_of(tmp_path / "state", settings)
    journal.write(folder, 4711, claim, Ending(Outcome.DONE, result="{}"))
    return job


def test_what_dead_workers_left_is_told_with_the_rest(cli, queue, left_in_journal, settings):
    done = cli("sweep", "-v", DATABASE_URL=url_of(settings))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"job {left_in_journal}: done: its worker had left its outcome in the journal",
        "put 0 jobs back to pending and 0 to error; 1 job had been done, and that is written now",
    ]
    assert queue.get(left_in_journal)["status"] == "done"


def test_a_job_that_is_handed_back_is_no_empty_sweep(cli, queue, claim_as, settings, tmp_path):
    job = queue.enqueue("visit", {})
    claim = claim_as(incarnation=4712)
    death = {"slot": 0, "incarnation": 4712, "outcome": "handed_back", "ending": "it was stopped"}
    death |= {"job_id": job, "fence": claim.fence, "step": "", "label": "", "output": []}
    deaths.keep(journal.folder_of(tmp_path / "state", settings), death | {"seconds": 1.0})

    done = cli("sweep")

    assert (done.stdout, done.stderr) == ("put 1 job back to pending and 0 to error\n", "")
    assert queue.get(job)["status"] == "pending"


def test_a_database_is_migrated_step_by_step_and_only_once(cli, mysql):
    names = list(dict.fromkeys(step.name for step in migrations.steps()))

    dry = cli("migrate", "--dry-run")
    first = cli("migrate")
    second = cli("migrate")

    assert dry.stdout.splitlines() == [f"would apply {name}" for name in names]
    assert first.stdout.splitlines() == [f"applied {name}" for name in names]
    assert second.stdout == "the schema is up to date\n"
    assert (dry.returncode, first.returncode, second.returncode) == (0, 0, 0)


def test_an_older_schema_is_brought_up_to_date(cli, database):
    database.run_statement("DELETE FROM schema_migrations WHERE version = 3")

    refused, mended, after = cli("status"), cli("migrate"), cli("status")

    assert refused.returncode == 78
    assert "run: python launcher.py migrate" in refused.stderr
    assert mended.stdout == "applied 0003_runs_and_workers\n"
    assert after.returncode == 0
