"""Which profile, account and proxy an attempt really used, wherever something is told of it."""

from __future__ import annotations

import csv
import io
import json
import shutil
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from examples.webhook_receiver import Inbox, serve
from tests.browser.recording_proxy import RecordingProxy
from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.pool import worker_of
from worker.profiles import store
from worker.profiles.store import NewProfile
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy
from worker.system.process_tree import kill

TASKS = Path(__file__).with_name("profile_tasks.py")
HOOKS = {"NIGHTSHIFT_WEBHOOK_SECRET": "s" * 32, "NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE": "1"}


@pytest.fixture
def proxy(database):
    """A proxy named berlin, which answers by itself."""
    with closing(RecordingProxy("night", "s3cret-s3cret")) as running:
        at = ("127.0.0.1", running.port, "night", "s3cret-s3cret")
        proxies.add(database, Proxy("http", *at, name="berlin"))
        yield running


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return Path(shutil.copy(TASKS, tmp_path / "tasks.py"))


@pytest.fixture
def enqueue(queue, database):
    def enqueue(task: str, profile=None, account=None, **payload: object) -> int:
        job = queue.enqueue(task, {"url": "http://shop.test", **payload})
        database.run_statement(
            "UPDATE work_queue SET profile_id = %(p)s, account_id = %(a)s WHERE id = %(i)s",
            {"p": profile, "a": account, "i": job},
        )
        return int(job)

    return enqueue


def used(row) -> tuple[str | None, ...]:
    return tuple(row[f"used_{name}"] for name in ("profile", "account", "proxy"))


@pytest.fixture
def jobs(database, enqueue, proxy, tmp_path) -> dict[int, tuple[str | None, ...]]:
    """Jobs that name an account, a profile or neither, and what each of them is to use."""
    folder = tmp_path / "profiles" / "p1"
    store.add(database, [NewProfile("p1", "ada", folder=folder, proxy="berlin")], "me")
    store.add_account(database, "bob", by="me")
    return {
        enqueue("who_am_i", account="ada"): ("p1", "ada", "berlin"),
        enqueue("who_am_i", profile="p1"): ("p1", "ada", "berlin"),
        enqueue("who_am_i", account="bob"): (None, "bob", "berlin"),
        enqueue("who_am_i"): (None, None, "berlin"),
        enqueue("breaking_off", account="ada"): ("p1", "ada", "berlin"),
        # Of a task without a browser nothing went through a proxy.
        enqueue("breaking_off"): (None, None, None),
    }


def exported(text: str) -> dict[int, tuple[str | None, ...]]:
    names = ("used_profile", "used_account", "used_proxy")
    rows = csv.DictReader(io.StringIO(text))
    return {int(row["id"]): tuple(row[name] or None for name in names) for row in rows}


def delivered(inbox: Inbox) -> dict[int, tuple[str | None, ...]]:
    names = ("profile", "account", "proxy")
    return {event["job_id"]: tuple(event[name] for name in names) for event in inbox.events()}


@pytest.mark.timeout(180)
def test_show_export_evidence_and_webhooks_tell_what_each_attempt_used(
    launch, settings, jobs, tasks, tmp_path, errors_dir
):
    inbox = Inbox(tmp_path / "events.sqlite")
    with serve(HOOKS["NIGHTSHIFT_WEBHOOK_SECRET"], inbox) as hook:
        run = launch("--workers", 1, "--tasks", tasks, "--callback-url", hook, **HOOKS)
        assert run.wait(90) in (0, 11), run.output

    cli = partial(run_command, tmp_path, DATABASE_URL=url_of(settings))
    for job, expected in jobs.items():
        shown = json.loads(cli("show", job, "--json").stdout)
        assert used(shown["attempts"][-1]) == used(shown["job"]) == expected
    assert exported(cli("export", "--status", "all", "--format", "csv").stdout) == jobs
    assert delivered(inbox) == jobs
    for job in list(jobs)[-2:]:
        (path,) = errors_dir.glob(f"{job}/1/error.json")
        error = json.loads(path.read_text())
        assert (error["profile"], error["account"], error["proxy_name"]) == jobs[job]
    line = "used: profile p1, account ada, proxy berlin"
    assert line in cli("show", next(iter(jobs))).stdout
    # The archive keeps it.
    cli("archive", "--older-than", "0")
    assert (
        exported(cli("export", "--archived", "--status", "all", "--format", "csv").stdout) == jobs
    )
    assert line in cli("show", next(iter(jobs))).stdout


@pytest.mark.timeout(120)
def test_what_a_killed_worker_used_is_in_its_jobs_history_and_evidence(
    launch, queue, database, enqueue, proxy, tasks, tmp_path, errors_dir
):
    job = enqueue("held_there", step="logged in")
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until((tmp_path / f"begun-{job}-1").exists, "the job is at work", 40)

    kill(worker_of(database, job))
    wait_until((tmp_path / f"begun-{job}-2").exists, "the job is at work again", 40)
    (tmp_path / "go").touch()

    assert run.wait(60) == 0
    assert [(row["outcome"], *used(row)) for row in queue.history(job)] == [
        ("crashed", None, None, "berlin"),
        ("done", None, None, "berlin"),
    ]
    error = json.loads((errors_dir / f"{job}/1/error.json").read_text())
    assert error["proxy_name"] == "berlin"
