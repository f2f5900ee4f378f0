"""A run with browsers elsewhere: real Playwright servers and real CDP, lost in the middle of it.

Shows invariant 4: a remote browser lost costs no attempt.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.elsewhere import PlaywrightServer
from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.pool import worker_of
from worker.drill import finish_ledger
from worker.system.process_tree import kill

TASKS = Path(__file__).with_name("elsewhere_tasks.py")
# From here on after one of two servers is lost, the other one's browsers do as much as both did.
BACK_SECONDS = 5.0
RATE_SECONDS = 4.0
# Two workers of four would do half. Jobs mostly wait, so that a busy machine slows none of it much.
BACK_SHARE = 0.7
JOB_MS = 400


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return Path(shutil.copy(TASKS, tmp_path / "tasks.py"))


@pytest.fixture
def noted(tmp_path: Path) -> Callable[[str], list[list[str]]]:
    def read(name: str) -> list[list[str]]:
        try:
            return [line.split() for line in (tmp_path / name).read_text().splitlines()]
        except FileNotFoundError:
            return []

    return read


@pytest.fixture
def serve(tmp_path_factory) -> Iterator[Callable[..., PlaywrightServer]]:
    """Start Playwright servers, each on a port of its own unless one is given."""
    started: list[PlaywrightServer] = []

    def start(**how) -> PlaywrightServer:
        server = PlaywrightServer(tmp_path_factory.mktemp("server"), **how)
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


def rates(ends: list[float], killed_at: float) -> tuple[int, int]:
    """Count jobs right before a server was lost, and in the best time that begins soon after."""

    def done_since(begin: float) -> int:
        return sum(begin < end <= begin + RATE_SECONDS for end in ends)

    begins = [end for end in ends if killed_at < end <= killed_at + BACK_SECONDS]
    return done_since(killed_at - RATE_SECONDS), max(map(done_since, [killed_at, *begins]))


def test_nothing_is_lost_when_one_of_two_servers_dies_and_as_much_is_done_5_s_later(
    launch, database, queue, tasks, noted, serve, tmp_path
):
    finish_ledger.install(database)
    first, second = serve(), serve()
    jobs = [queue.enqueue("timed_page", {"ms": JOB_MS}) for _ in range(170)]
    run = launch(
        "--workers", 4, "--tasks", tasks, "--json",
        NIGHTSHIFT_BROWSER_ENDPOINT=f"{first.url} {second.url}",
    )  # fmt: skip
    wait_until(lambda: len({pid for _, _, pid, *_ in noted("timed")}) == 4, "all work", 60)
    all_work_at = time.monotonic()
    wait_until(lambda: time.monotonic() > all_work_at + RATE_SECONDS, "their rate is known")
    assert len(first.browsers) == len(second.browsers) == 2

    killed_at = time.monotonic()
    first.kill()
    measured_at = killed_at + BACK_SECONDS + RATE_SECONDS
    wait_until(lambda: time.monotonic() > measured_at, "what is done since is known")

    usual, again = rates([float(end) for *_, end in noted("timed")], killed_at)
    assert again >= BACK_SHARE * usual, f"{again} jobs in {RATE_SECONDS:g} s, {usual} before"
    assert len(second.browsers) == 4

    (tmp_path / "short").touch()
    assert run.wait(100) == 0
    assert run.summary["done"] == len(jobs)
    assert run.summary["crashes"] == 0
    assert finish_ledger.finishes(database) == dict.fromkeys(jobs, 1)
    lost = database.run_statement("SELECT outcome, reason FROM job_attempts")
    assert {row["outcome"] for row in lost} <= {"handed_back"}, lost
    rows = database.run_statement("SELECT DISTINCT attempts FROM work_queue")
    assert rows == [{"attempts": 1}]
    assert second.browsers == []


def test_a_run_waits_for_its_only_server_and_goes_on_when_it_is_back(
    launch, database, queue, tasks, noted, serve
):
    server = serve()
    jobs = [queue.enqueue("timed_page", {}) for _ in range(12)]
    run = launch("--workers", 2, "--tasks", tasks, "--json", NIGHTSHIFT_BROWSER_ENDPOINT=server.url)
    wait_until(lambda: len(noted("timed")) >= 3, "some jobs are done", 60)

    server.kill()
    wait_until(lambda: "waiting for one" in run.stderr, "the workers wait", 60)
    serve(port=server.port)

    assert run.wait(90) == 0
    assert (run.summary["done"], run.summary["crashes"]) == (len(jobs), 0)
    rows = database.run_statement("SELECT DISTINCT attempts FROM work_queue")
    assert rows == [{"attempts": 1}]


def test_a_job_that_kills_its_browser_each_time_is_an_error_in_the_end(
    launch, queue, tasks, noted, serve
):
    job = queue.enqueue("suicidal_page", {})
    run = launch("--workers", 1, "--tasks", tasks, NIGHTSHIFT_BROWSER_ENDPOINT=serve().url)

    assert run.wait(110) == 0
    outcomes = [row["outcome"] for row in queue.history(job)]
    assert outcomes == ["handed_back"] * 5 + ["crashed"] * 2
    assert queue.get(job)["status"] == "error"


def test_a_call_that_hangs_elsewhere_ends_with_its_job(launch, queue, tasks, serve):
    job = queue.enqueue("hanging_page", {}, max_attempts=1)
    fine = queue.enqueue("timed_page", {})
    run = launch("--workers", 1, "--tasks", tasks, NIGHTSHIFT_BROWSER_ENDPOINT=serve().url)

    assert run.wait(60) == 0
    assert [row["outcome"] for row in queue.history(job)] == ["timed_out"]
    assert queue.get(fine)["status"] == "done"


def test_a_wrong_version_ends_the_run_in_one_line_before_the_first_job(launch, queue, tasks, serve):
    job = queue.enqueue("timed_page", {})
    run = launch(
        "--workers", 1, "--tasks", tasks, NIGHTSHIFT_BROWSER_ENDPOINT=serve().url,
        NIGHTSHIFT_BROWSER_HEADERS='{"User-Agent": "Playwright/1.40.0 (x64; ubuntu 22.04)"}',
    )  # fmt: skip

    assert run.wait(60) == 69
    assert "it runs Playwright 1." in run.stderr
    assert queue.get(job)["attempts"] == 0


def test_a_token_on_the_command_line_is_refused_in_one_line(launch):
    run = launch("--workers", 1, "--browser-endpoint", "wss://host.test?token=hunter2")

    assert run.wait() == 2
    assert "write the address into .env as NIGHTSHIFT_BROWSER_ENDPOINT" in run.stderr
    assert "hunter2" not in run.output


def test_evidence_says_which_browser_it_was(launch, queue, tasks, serve, errors_dir, tmp_path):
    broker = tmp_path / "broker.py"
    broker.write_text(
        "def endpoint(slot):\n"
        f"    return {serve().url!r}, {{}}, {{'session': 's-4711', 'live': 'https://app.test/s'}}\n"
        "def close(session):\n"
        f"    open({str(tmp_path / 'closed')!r}, 'a').write(session + '\\n')\n"
        "endpoint.close = close\n"
    )
    job = queue.enqueue("visit", {"url": "http://127.0.0.1:9/"}, max_attempts=1)
    run = launch("--workers", 1, "--browser-endpoint", f"{broker}:endpoint")

    assert run.wait(60) == 0
    said = json.loads(next((errors_dir / str(job)).glob("*/error.json")).read_text())
    assert said["elsewhere"]["browser_session"] == "s-4711"
    assert said["elsewhere"]["live_view"] == "https://app.test/s"
    assert (tmp_path / "closed").read_text() == "s-4711\n"


def test_the_session_of_a_killed_worker_is_closed_by_the_next_one(
    launch, database, queue, tasks, noted, serve, tmp_path
):
    broker = tmp_path / "broker.py"
    broker.write_text(
        "import os\n"
        f"def endpoint(slot):\n    return {serve().url!r}, {{}}, {{'session': os.getpid()}}\n"
        f"def close(session):\n    open({str(tmp_path / 'closed')!r}, 'a').write(session + '\\n')\n"
        "endpoint.close = close\n"
    )
    first = queue.enqueue("timed_page", {"ms": 60_000})
    run = launch("--workers", 1, "--tasks", tasks, "--browser-endpoint", f"{broker}:endpoint")
    wait_until(lambda: noted("begun"), "the job has begun", 60)
    victim = worker_of(database, first)
    (tmp_path / "short").touch()

    kill(victim)

    assert run.wait(60) == 0
    closed = (tmp_path / "closed").read_text().split()
    assert closed[0] == str(victim.pid)
    assert len(closed) == 2


def test_doctor_tries_every_endpoint(tmp_path, settings, serve, closed_port):
    server = serve()
    fine = run_command(
        tmp_path, "doctor", DATABASE_URL=url_of(settings), NIGHTSHIFT_BROWSER_ENDPOINT=server.url
    )
    both = f"{server.url} http://127.0.0.1:{closed_port}"
    failed = run_command(
        tmp_path, "doctor", DATABASE_URL=url_of(settings), NIGHTSHIFT_BROWSER_ENDPOINT=both
    )

    (line,) = [text for text in fine.stdout.splitlines() if "browsers elsewhere" in text]
    assert line.startswith(f"ok   browsers elsewhere: {server.url.rstrip('/')} opens a page")
    (line,) = [text for text in failed.stdout.splitlines() if "browsers elsewhere" in text]
    assert line.startswith("FAIL browsers elsewhere: no browser elsewhere can be had")
    assert f"http://127.0.0.1:{closed_port}: nobody answers there" in line
    assert failed.returncode == 69
