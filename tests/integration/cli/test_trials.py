"""`try`, `reproduce` and `init`: a task run here and now, with everything shown when it fails."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import zipfile

import pytest

from tests.lifecycle.conftest import REPO, clean_environment, url_of
from worker.cli.trials import exit_code_of
from worker.errors import BrowserAway, Fail, JobTimedOut, LaunchFailed, ProxyUnavailable
from worker.models import Ending, Outcome

TASKS = """
from worker import Fail, task

@task("heading")
def heading(page, payload, job):
    job.step("opening")
    page.goto(payload["url"])
    job.attach("note.txt", "seen")
    return {"heading": page.locator("h1").inner_text(), "job": job.id}

@task("broken")
def broken(page, payload, job):
    page.goto("data:text/html,<h1>Before</h1>")
    raise ValueError("the owl is out")

@task("orders")
def orders(page, payload, job):
    job.step("placing order", irreversible=True)
    return {"ordered": True}

@task("waits")
def waits(page, payload, job):
    page.goto("data:text/html,<h1>Waiting</h1>")
    job.step("waiting")
    page.wait_for_timeout(60_000)

@task("given_up")
def given_up(page, payload, job):
    raise Fail("no such product")
"""
PAGE = "data:text/html,<h1>Hello</h1>"


@pytest.fixture
def cli(settings, tmp_path):
    """Run `launcher.py …` in this test's folder; tracebacks are welcome here."""
    (tmp_path / "own.py").write_text(TASKS, encoding="utf-8")

    def run(*arguments, program=(str(REPO / "launcher.py"),)):
        environment = clean_environment(
            tmp_path,
            DATABASE_URL=url_of(settings),
            NIGHTSHIFT_RESULTS_DIR=str(tmp_path / "results"),
            PYTHONPATH=None,
        )
        return subprocess.run(
            [sys.executable, *program, *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def test_a_task_is_tried_on_a_payload(cli, tmp_path):
    done = cli("try", "heading", "--tasks", "own.py", "--payload", json.dumps({"url": PAGE}))

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"heading": "Hello", "job": 0}
    assert "would add" not in done.stderr
    assert (tmp_path / "results" / "tried" / "0" / "note.txt").read_text() == "seen"


def test_a_task_is_tried_on_the_payload_of_a_job_which_stays_as_it_is(cli, queue):
    job = queue.enqueue("heading", {"url": PAGE})

    done = cli("try", "heading", "--tasks", "own.py", "--job", job)

    assert json.loads(done.stdout) == {"heading": "Hello", "job": job}
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("pending", 0)


def test_a_task_that_fails_shows_its_traceback(cli):
    done = cli("try", "broken", "--tasks", "own.py", "--payload", "{}")

    assert (done.returncode, done.stdout) == (1, "")
    assert 'own.py", line' in done.stderr
    assert "ValueError: the owl is out" in done.stderr


def test_a_task_that_gives_up_says_why_in_a_line(cli):
    done = cli("try", "given_up", "--tasks", "own.py", "--payload", "{}")

    assert done.returncode == 1
    assert "Fail: no such product" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("visit",), "give the payload with --payload JSON, or a job's with --job ID"),
        (("visit", "--payload", "{}", "--job", 1), "give the payload with"),
        (("visit", "--payload", "{"), "the payload is not JSON"),
        (("visit", "--payload", "[]"), "the payload is a list, not an object"),
        (("visit", "--job", 999), "there is no job 999"),
        (("nobody", "--payload", "{}"), "no task named 'nobody' is loaded"),
        (("extract", "--payload", '{"url": "http://a/"}'), 'payload lacks "fields"'),
    ],
)
def test_what_cannot_be_tried_is_told_in_a_line(cli, arguments, said):
    done = cli("try", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_what_cannot_be_reproduced_is_wrong_usage_as_for_try(cli, queue):
    strange, odd = queue.enqueue("nobody", {}), queue.enqueue("extract", {"url": "http://a/"})

    for job, said in ((strange, "no task named 'nobody' is loaded"), (odd, 'lacks "fields"')):
        done = cli("reproduce", job)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


def test_a_browser_that_is_not_there_is_blamed_on_the_flag_that_named_it(cli):
    done = cli(*("try", "heading", "--tasks", "own.py", "--payload", "{}"), "--browser", "/bin/no")

    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr == "nightshift: --browser: there is no /bin/no\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("the owl is out"), 1),
        (Fail("no such product"), 1),
        (JobTimedOut(30.0), 1),
        (LaunchFailed("Chromium does not start"), 69),
        (BrowserAway("the endpoint is away", 5.0), 69),
        (ProxyUnavailable("all proxies rest"), 69),
    ],
)
def test_a_task_that_fails_is_told_from_a_browser_that_cannot_be_had(error, code):
    assert exit_code_of(error) == code


def test_reproducing_leaves_a_trace_and_evidence_beside_the_old(cli, queue, tmp_path):
    job = queue.enqueue("broken", {"url": PAGE})
    (tmp_path / "errors" / str(job) / "1").mkdir(parents=True)

    done = cli("reproduce", job, "--tasks", "own.py")

    assert done.returncode == 1
    assert "ValueError: the owl is out" in done.stderr
    folder = tmp_path / "errors" / str(job) / "reproduced"
    assert str(folder) in done.stderr
    assert "trace.trace" in zipfile.ZipFile(folder / "trace.zip").namelist()
    assert {"screenshot.png", "page.html"} <= {path.name for path in folder.iterdir()}
    assert (tmp_path / "errors" / str(job) / "1").exists()
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("pending", 0)


def test_a_job_of_the_queue_takes_no_irreversible_step_here(cli, queue):
    job = queue.enqueue("orders", {})

    for again in (("reproduce", job), ("try", "orders", "--job", job)):
        done = cli(*again, "--tasks", "own.py")
        assert (done.returncode, done.stdout) == (1, "")
        assert "Fail: stopped before 'placing order'" in done.stderr
        assert f"launcher.py retry --id {job}" in done.stderr
    tried = cli("try", "orders", "--payload", "{}", "--tasks", "own.py")
    assert json.loads(tried.stdout) == {"ordered": True}
    assert "step: placing order" in tried.stderr


def test_a_job_that_may_be_half_done_is_not_said_to_be_retried_just_so(cli, queue, claim_as):
    job = queue.enqueue("orders", {})
    ending = Ending(Outcome.CRASHED, "killed", irreversible_step="placing order")
    queue.end(claim_as(), ending)

    done = cli("reproduce", job, "--tasks", "own.py")

    assert "it may be half done: look at the site" in done.stderr
    assert f"launcher.py retry --half-done --id {job}" in done.stderr


def test_reproducing_what_works_now_leaves_a_trace_all_the_same(cli, queue, tmp_path):
    job = queue.enqueue("heading", {"url": PAGE})

    done = cli("reproduce", job, "--tasks", "own.py")

    assert (done.returncode, json.loads(done.stdout)["heading"]) == (0, "Hello")
    assert (tmp_path / "errors" / str(job) / "reproduced" / "trace.zip").stat().st_size > 0


def test_a_task_that_is_tried_shows_its_steps_and_where_its_files_are(cli, tmp_path):
    done = cli("try", "heading", "--tasks", "own.py", "--payload", json.dumps({"url": PAGE}))

    files = tmp_path / "results" / "tried" / "0"
    assert done.stderr.splitlines() == ["step: opening", f"files: {files}"]


def test_a_traceback_shows_the_tasks_own_lines_only(cli):
    payload = json.dumps({"url": "no such scheme:"})

    done = cli("try", "heading", "--tasks", "own.py", "--payload", payload)

    assert done.returncode == 1
    assert 'page.goto(payload["url"])' in done.stderr
    assert "Cannot navigate to invalid URL" in done.stderr
    assert "task_run.py" not in done.stderr
    assert "playwright/_impl/_sync_base" not in done.stderr


@pytest.mark.parametrize(
    ("url", "flags", "said"),
    [
        ("file:///etc/passwd", (), "file:///etc/passwd is not opened: pages may go to http"),
        ("http://127.0.0.1:9999/", ("--deny-private",), "127.0.0.1 is private, and --deny-private"),
    ],
)
def test_a_task_that_is_tried_goes_no_further_than_in_a_run(cli, url, flags, said):
    done = cli("try", "heading", "--tasks", "own.py", "--payload", json.dumps({"url": url}), *flags)

    assert done.returncode == 1
    assert done.stdout == ""
    assert f"PageRefused: {said}" in done.stderr


def test_the_files_of_init_work_as_they_are(cli, tmp_path):
    assert cli("init", "my_shop").returncode == 0

    tried = cli("try", "my_shop", "--tasks", "my_shop.py", "--payload", json.dumps({"url": PAGE}))
    assert json.loads(tried.stdout)["heading"] == "Hello"
    tested = cli("-q", "-p", "no:cacheprovider", "test_my_shop.py", program=("-m", "pytest"))
    assert "2 passed" in tested.stdout, tested.stdout + tested.stderr

    again = cli("init", "my_shop")
    assert again.returncode == 2
    assert "my_shop.py exists already" in again.stderr


@pytest.mark.parametrize("name", ["json", "worker", "playwright"])
def test_a_name_that_another_module_has_is_refused(cli, name, tmp_path):
    done = cli("init", name)
    assert done.returncode == 2
    assert f"{name} is the name of another Python module" in done.stderr
    assert not (tmp_path / f"{name}.py").exists()


@pytest.mark.parametrize("name", ["My-Shop", "../x", "1st", "", "class"])
def test_a_name_that_no_file_can_have_is_refused(cli, name, tmp_path):
    before = sorted(tmp_path.iterdir())
    done = cli("init", name)
    assert done.returncode == 2
    assert "cannot name a task file" in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_a_task_that_is_interrupted_ends_with_130_and_without_a_traceback(settings, tmp_path):
    (tmp_path / "own.py").write_text(TASKS, encoding="utf-8")
    arguments = ("try", "waits", "--tasks", "own.py", "--payload", "{}")
    process = subprocess.Popen(
        [sys.executable, REPO / "launcher.py", *arguments],
        cwd=tmp_path,
        env=clean_environment(tmp_path, DATABASE_URL=url_of(settings), PYTHONPATH=None),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A suite in the background of a shell would hand on that it is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    with process:
        assert process.stderr is not None
        assert "step: waiting" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()

    assert process.returncode == 130
    assert "Traceback" not in rest
