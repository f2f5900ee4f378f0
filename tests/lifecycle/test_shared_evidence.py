"""Evidence is copied to the shared place after its job is settled, and fetched on any host."""

from __future__ import annotations

import json
import stat
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from tests.s3_server import BUCKET, KEY, SECRET, s3_server
from worker.evidence import to_copy

URL = "NIGHTSHIFT_EVIDENCE_URL"


@pytest.fixture
def shared(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    return folder


@pytest.fixture
def elsewhere(settings, tmp_path):
    """Run a command as on another host, which has none of this one's files."""
    return partial(
        run_command,
        tmp_path,
        DATABASE_URL=url_of(settings),
        NIGHTSHIFT_HOST="beta",
        NIGHTSHIFT_ERRORS_DIR=str(tmp_path / "errors-of-beta"),
        NIGHTSHIFT_STATE_DIR=str(tmp_path / "state-of-beta"),
    )


@pytest.fixture
def as_from_alpha(database):
    """Make evidence look as if it were on a machine that this one is not."""

    def as_from_alpha():
        database.run_statement("UPDATE job_attempts SET evidence_host = 'alpha'")

    return as_from_alpha


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_another_host_fetches_what_a_failure_left(
    launch, queue, demo_site, shared, errors_dir, elsewhere, as_from_alpha, tmp_path
):
    job = queue.enqueue("visit", {"url": f"{demo_site}/products/999"})
    run = launch("--workers", 1, NIGHTSHIFT_HOST="alpha", **{URL: str(shared)})
    assert run.wait() == 0, run.output
    (attempt,) = queue.history(job)
    assert attempt["evidence_host"] == "alpha"
    assert to_copy.is_empty(tmp_path / "state")
    as_from_alpha()

    alone = elsewhere("evidence", "get", job, "-o", tmp_path / "got")
    got = elsewhere("evidence", "get", job, "-o", tmp_path / "got", **{URL: str(shared)})
    shown = elsewhere("show", job)

    assert alone.returncode == 69
    assert f"errors/{job}/1 on alpha, and {URL} is not set here" in alone.stderr
    assert got.returncode == 0, got.stderr
    folder = tmp_path / "got" / "1"
    assert files(folder) == files(errors_dir / str(job) / "1")
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert f"errors/{job}/1 on alpha" in shown.stdout


def test_what_could_not_be_copied_is_copied_by_the_next_run(
    launch, queue, demo_site, tmp_path, elsewhere, as_from_alpha
):
    away = tmp_path / "away"
    job = queue.enqueue("visit", {"url": f"{demo_site}/products/999"})
    first = launch("--workers", 1, **{URL: str(away)})
    assert first.wait() == 0, first.output
    assert queue.get(job)["status"] == "error"
    assert "cannot be written: there is no such bucket, folder or file" in first.stderr
    assert "not all evidence is in the shared place yet" in first.stderr
    assert str(away) not in first.output

    away.mkdir()
    second = launch("--workers", 1, **{URL: str(away)})
    assert second.wait() == 0, second.output
    as_from_alpha()

    got = elsewhere("evidence", "get", job, "--json", "-o", tmp_path / "got", **{URL: str(away)})
    assert got.returncode == 0, got.stderr
    (told,) = json.loads(got.stdout)["attempts"]
    assert told == {"attempt": 1, "folder": str(tmp_path / "got" / "1"), "problem": None}


def test_a_killed_workers_evidence_is_copied_too(launch, queue, tasks, shared):
    job = queue.enqueue("deadly", {}, max_attempts=1)

    run = launch("--workers", 1, "--tasks", tasks, **{URL: str(shared)})

    assert run.wait() == 0, run.output
    assert queue.get(job)["status"] == "error"
    assert (shared / str(job) / "1" / "error.json").is_file()


def test_a_bucket_does_as_well_and_shows_nobody_its_keys(
    launch, queue, demo_site, tmp_path, errors_dir, elsewhere, as_from_alpha
):
    with s3_server(tmp_path) as variables:
        job = queue.enqueue("visit", {"url": f"{demo_site}/products/999"})
        run = launch("--workers", 1, **variables)
        assert run.wait(60) == 0, run.output
        as_from_alpha()

        got = elsewhere("evidence", "get", job, "-o", tmp_path / "got", **variables)

    assert got.returncode == 0, got.stderr
    assert files(tmp_path / "got" / "1") == files(errors_dir / str(job) / "1")
    kept = b"".join(path.read_bytes() for path in errors_dir.rglob("*") if path.is_file())
    said = (run.output + got.stdout + got.stderr).encode() + kept
    assert not any(secret.encode() in said for secret in (KEY, SECRET, BUCKET))


def test_evidence_from_before_is_put_there_by_hand(
    launch, queue, demo_site, shared, settings, tmp_path
):
    job = queue.enqueue("visit", {"url": f"{demo_site}/products/999"})
    assert launch("--workers", 1).wait() == 0
    here = partial(run_command, tmp_path, DATABASE_URL=url_of(settings), **{URL: str(shared)})

    first, again = here("evidence", "put"), here("evidence", "put", "--json")

    assert first.stdout.startswith("copied the evidence of 1 attempt to the shared place")
    assert json.loads(again.stdout) == {"copied": 0, "there_already": 1, "gone": 0}
    assert (shared / str(job) / "1" / "error.json").is_file()


def test_a_place_that_cannot_be_ends_the_run_before_it_begins(launch, queue):
    job = queue.enqueue("visit", {"url": "http://127.0.0.1/"})

    run = launch("--workers", 1, **{URL: "ftp://hunter2@example.com/x"})

    assert run.wait() == 78
    (line,) = run.stderr.splitlines()
    assert f"{URL} cannot be used; give a folder" in line
    assert "hunter2" not in line
    assert queue.get(job)["attempts"] == 0
