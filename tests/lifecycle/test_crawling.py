"""A task adds jobs and rows: the run goes on until all of them are done, each once."""

from __future__ import annotations

import csv
import json
import signal
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of, wait_until


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def test_a_crawl_is_done_page_by_page_and_each_page_once(
    launch, database, queue, tasks, noted, cli
):
    root = queue.enqueue("crawl", {"page": 1, "depth": 3}, dedupe_key="page 1")

    run = launch("--workers", 3, "--tasks", tasks)

    assert run.wait() == 0, run.output
    assert "15 done" in run.stdout
    assert len({job for job, _ in noted("finished")}) == 15
    told = cli("show", root).stdout
    assert f"  has added 2 jobs: {root + 1} (done), " in told
    (last,) = database.run_statement("SELECT MAX(id) AS id FROM work_queue WHERE depth = 3")
    deepest = cli("show", last["id"]).stdout
    assert f"depth 3, first of its chain: job {root}\n" in deepest


def test_rows_of_a_result_are_exported_a_line_each(launch, queue, tasks, cli, tmp_path):
    queue.enqueue("crawl", {"page": 1, "depth": 1})
    assert launch("--workers", 1, "--tasks", tasks).wait() == 0

    lines = [json.loads(line) for line in cli("export", "--rows").stdout.splitlines()]
    assert [(line["row"], line["result"]["page"]) for line in lines[:2]] == [(1, 1), (2, 1)]
    assert len(lines) == 8
    target = tmp_path / "rows.csv"
    assert cli("export", "--rows", "-o", target).returncode == 0
    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["row"], row["page"], row["depth"]) for row in rows[:2]] == [
        ("1", "1", "0"),
        ("2", "1", "0"),
    ]
    assert len(cli("export").stdout.splitlines()) == 4


def test_a_crawl_whose_run_is_killed_loses_no_page_and_adds_none_twice(
    launch, database, queue, tasks, noted
):
    queue.enqueue("crawl", {"page": 1, "depth": 6, "keyless": True})
    killed = launch("--workers", 2, "--tasks", tasks)
    wait_until(lambda: len(noted("finished")) >= 20, "some pages are done")
    killed.signal_group(signal.SIGKILL)
    killed.wait()

    second = launch("--workers", 2, "--tasks", tasks)

    assert second.wait(60) == 0, second.output
    rows = database.run_statement("SELECT payload, status FROM work_queue")
    pages = [json.loads(row["payload"])["page"] for row in rows]
    assert sorted(pages) == [*range(1, 128)]
    assert {row["status"] for row in rows} == {"done"}
