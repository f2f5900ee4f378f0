"""`rehearse`: a task as it is now, on the pages at which jobs failed; no site is asked."""

from __future__ import annotations

import json
import os
import pty
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import because
from tests.lifecycle.conftest import launch, run_command, url_of
from tests.loopback import Site
from worker.history import archive, dead_letters
from worker.history.dead_letters import Scope

__all__ = ["launch"]

TASKS = Path(__file__).with_name("rehearsed_tasks.py")
GROUP = "0123456789abcdef"
WHY = because("it failed", fingerprint=GROUP, label="misread: it failed")


@pytest.fixture
def cli(settings, tmp_path):
    results = str(tmp_path / "results")
    changes = {"DATABASE_URL": url_of(settings), "NIGHTSHIFT_RESULTS_DIR": results}
    return partial(run_command, tmp_path, "rehearse", "--tasks", TASKS, **changes)


@pytest.fixture
def site():
    """A site that is there all the time, and should never notice."""
    site = Site()
    yield site
    site.close()


@pytest.fixture
def page(site):
    """A page that asks for whatever a page can."""
    there = f"127.0.0.1:{site.port}"
    return f"""<!doctype html><title>Lamp</title><p class="price">€ 149</p>
        <img src="http://{there}/img"><iframe src="http://{there}/frame"></iframe>
        <link rel="stylesheet" href="http://{there}/css"><script src="http://{there}/js"></script>
        <script>document.body.insertAdjacentHTML("beforeend", "<p class=script></p>");
            new WebSocket("ws://{there}/socket"); navigator.sendBeacon("http://{there}/beacon");
            fetch("http://{there}/fetch"); window.open("http://{there}/popup")</script>"""


@pytest.fixture
def failed(queue, claim_as, tmp_path, page, site):
    """Let a job of a task have failed at that page, with evidence as a worker leaves it."""

    def failed(task, **changes):
        url = f"http://127.0.0.1:{site.port}/p/1"
        payload = {"url": url, "other": f"http://127.0.0.1:{site.port}/other"}
        job = queue.enqueue(task, {**payload, **changes})
        queue.fail(claim_as(), {**WHY, "evidence": f"{job}/1"})
        folder = tmp_path / "errors" / str(job) / "1"
        folder.mkdir(parents=True)
        document = {"method": "GET", "asked": url, "url": url}
        facts = {"final_url": url, "status": 200, "response_headers": {}, "document": document}
        (folder / "error.json").write_text(json.dumps(facts))
        (folder / "page.html").write_text(page)
        return job

    return failed


PASSES = ["reads", "adds", "has_routes", "has_a_context", "orders"]
UNKNOWN = ["own_requests", "page_requests", "goes_on"]


def test_what_each_job_would_come_to_is_told_and_none_of_it_is_done(
    cli, failed, queue, site, tmp_path
):
    jobs = {failed(name, file=str(tmp_path / "ordered")): name for name in PASSES + UNKNOWN}
    before = [queue.get(job) for job in jobs]
    evidence = {path: path.read_bytes() for path in (tmp_path / "errors").rglob("*.*")}

    done = cli("--group", GROUP[:6], "--json")

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    told = {jobs[each["job"]]: each for each in report["jobs"]}
    assert {name for name in told if told[name]["outlook"] == "passes"} == set(PASSES)
    assert {name for name in told if told[name]["outlook"] == "unknown"} == set(UNKNOWN)
    assert [report[name] for name in ("rehearsed", "passes", "fails", "unknown")] == [8, 5, 0, 3]
    assert report["next"] == f"launcher.py retry --group {GROUP[:8]}"
    assert "a line that no program wants" in done.stderr
    check_what_is_told(told, site)

    assert not site.asked
    assert not (tmp_path / "ordered").exists()
    assert not (tmp_path / "results").exists()
    assert [queue.get(job) for job in jobs] == before
    assert {path: path.read_bytes() for path in (tmp_path / "errors").rglob("*.*")} == evidence


def check_what_is_told(told, site):
    assert (told["reads"]["result"]["price"], told["reads"]["result"]["scripts"]) == ("€ 149", 0)
    assert told["orders"]["stopped_before"] == "submitting order"
    assert (told["adds"]["follow_ups"], told["adds"]["files"]) == (1, ["seen.txt"])
    assert told["adds"]["result"] == [{"row": 1}]
    assert f"asks the network (127.0.0.1:{site.port})" in told["own_requests"]["reason"]
    assert "asks for more than its page" in told["page_requests"]["reason"]
    assert "/other, which was not captured" in told["goes_on"]["reason"]


def test_scripts_run_when_they_are_asked_for_and_reach_nobody(cli, failed, site):
    failed("reads")

    done = cli("--group", GROUP, "--json", "--scripts")

    (told,) = json.loads(done.stdout)["jobs"]
    assert (told["outlook"], told["result"]["scripts"]) == ("passes", 1)
    assert not site.asked


def test_people_get_a_line_a_job_and_the_next_command(cli, failed, tmp_path):
    first, second = failed("reads"), failed("misreads")
    (tmp_path / "errors" / str(second) / "1" / "page.html").unlink()
    failed("misreads")

    done = cli("--group", GROUP, "--limit", 2)

    lines = done.stdout.splitlines()
    assert lines[0] == f"{GROUP[:8]}  {WHY['label']}"
    assert lines[1].startswith(f"  job {second + 1}  fails: TimeoutError")
    assert lines[2].startswith(f"  job {second}  cannot be rehearsed: there is no page in ")
    assert lines[3:] == ["rehearsed 2 of 3 jobs: 0 would pass, 1 would fail, 1 cannot be rehearsed"]
    assert f"job {first}" not in done.stdout


@pytest.mark.parametrize(("answer", "status"), [("y", "pending"), ("n", "error")])
def test_on_a_terminal_the_group_is_put_back_on_a_word(
    failed, queue, settings, launch, answer, status
):
    job = failed("reads")
    near, far = pty.openpty()
    os.write(near, f"{answer}\n".encode())

    launcher = launch("rehearse", "--group", GROUP, "--tasks", TASKS, stdin=far)

    assert launcher.wait() == 0
    assert queue.get(job)["status"] == status
    assert f"next: launcher.py retry --group {GROUP[:8]}" in launcher.stdout
    assert "1 job will be put back to pending. Continue?" in launcher.stderr
    os.close(near)
    os.close(far)


@pytest.mark.parametrize(
    ("group", "code", "said"),
    [
        ("fff", 2, "no group's name begins with fff; list them: launcher.py errors"),
        (GROUP, 2, "no task named 'reads' is loaded"),
    ],
)
def test_what_cannot_be_rehearsed_is_one_line(failed, settings, tmp_path, group, code, said):
    failed("reads")

    done = run_command(tmp_path, "rehearse", "--group", group, DATABASE_URL=url_of(settings))

    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


def test_a_group_without_a_failed_job_is_nothing_to_do(cli, failed, queue, database):
    failed("reads")
    dead_letters.retry(database, Scope(archive.now(database), group=GROUP))

    done = cli("--group", GROUP)

    assert done.returncode == 0
    assert "no job of the group is in error" in done.stdout
