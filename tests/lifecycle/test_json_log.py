"""With `--log-format json` every line on stderr is one object, whoever wrote it."""

from __future__ import annotations

import json

TASKS = """
from worker import Fail, task

@task("talk")
def talk(page, payload, job):
    print("merely printed")
    job.log.info("the password=hush-hush-hush is masked")
    raise Fail("no good\\nat all")
"""


def lines_of(run):
    lines = [json.loads(line) for line in run.stderr.splitlines()]
    assert all(list(line) == ["time", "level", "worker", "job", "message"] for line in lines)
    return lines


def test_every_line_of_a_run_is_an_object_with_worker_and_job(launch, queue, tmp_path):
    file = tmp_path / "talking.py"
    file.write_text(TASKS)
    job = queue.enqueue("talk", {})

    run = launch("--workers", 1, "--tasks", file, "--log-format", "json")
    assert run.wait() == 0, run.output

    lines = lines_of(run)
    assert any("merely printed" in line["message"] for line in lines)
    logged = [line for line in lines if line["job"] == job]
    assert any(line["worker"] == "worker 0" for line in logged)
    assert any("password=" in line["message"] for line in lines)
    assert "hush-hush-hush" not in run.output


def test_an_error_of_the_launcher_is_an_object_too(launch, closed_port):
    away = f"mysql://nobody@127.0.0.1:{closed_port}/nightshift"

    run = launch("--log-format", "json", DATABASE_URL=away)

    assert run.wait() == 69
    assert [line["level"] for line in lines_of(run)] == ["error"]
