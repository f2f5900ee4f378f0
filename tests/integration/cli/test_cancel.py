"""`launcher.py jobs`, `cancel`, `undiscard`, and what `enqueue` says of the jobs it made."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def test_jobs_are_listed_a_page_at_a_time(cli, queue):
    ids = [
        queue.enqueue("visit", {"url": f"https://e.org/{n}", "password": "hush"}) for n in range(3)
    ]

    done = cli("jobs", "--limit", 2)

    assert [line.split()[0] for line in done.stdout.splitlines()] == [str(ids[2]), str(ids[1])]
    assert "hush" not in done.stdout
    assert f"go on with: --after {ids[1]}" in done.stderr
    told = json.loads(cli("jobs", "--limit", 2, "--after", ids[1], "--json").stdout)
    assert ([job["id"] for job in told["jobs"]], told["after"]) == ([ids[0]], None)
    assert cli("jobs", "--queue", "slow").stdout == "no such job\n"


def test_jobs_are_listed_by_every_filter(cli, queue):
    wanted = queue.enqueue(
        "price", {"url": "https://e.org/1"}, queue="slow", batch="b", profile_id="p1"
    )
    for _ in range(2):
        queue.enqueue("visit", {"url": "https://a.org/"})
    flags = "--status pending --task price --queue slow --site e.org --profile p1 --batch b"

    def listed(*flags):
        return [job["id"] for job in json.loads(cli("jobs", *flags, "--json").stdout)["jobs"]]

    assert listed(*flags.split(), "--since", "1h") == [wanted]
    assert listed("--status", "done", "--status", "error") == []
    assert listed("--oldest") == listed()[::-1] == [wanted, wanted + 1, wanted + 2]


def test_jobs_are_cancelled_with_care_and_come_back(cli, queue, database):
    ids = [queue.enqueue("visit", {}, batch="monday") for _ in range(3)]
    other = queue.enqueue("visit", {})

    assert cli("cancel").returncode == 2
    assert "3 jobs would be moved" in cli("cancel", "--batch", "monday", "--dry-run").stdout
    refused = cli("cancel", "--batch", "monday")
    assert (refused.returncode, "add --yes" in refused.stderr) == (2, True)
    assert queue.counts()["pending"] == 4

    done = cli("cancel", "--batch", "monday", "--yes", "--reason", "wrong list")
    assert done.stdout == "3 jobs moved to the archive\n"
    assert queue.counts()["pending"] == 1
    shown = cli("show", ids[0]).stdout
    assert shown.startswith(f"job {ids[0]} (visit): cancelled, 0 attempts")
    assert "wrong list" in shown
    assert "is in the archive; nothing was done" in cli("cancel", "--id", ids[0], "--yes").stderr

    back = cli("undiscard", "--batch", "monday", "--yes")
    assert back.stdout == "3 jobs put back into the queue\n"
    assert queue.counts()["pending"] == 4
    assert cli("undiscard", "--id", other, "--yes").returncode == 2


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--queue", "slow"),
        ("--site", "www.shop.example"),
        ("--profile", "p1"),
        ("--task", "screenshot"),
    ],
)
def test_jobs_come_back_by_what_they_were_cancelled_by(cli, queue, database, flag, value):
    kept = queue.enqueue("visit", {})
    meant = {"--queue": {"queue": value}, "--profile": {"profile_id": value}}.get(flag, {})
    task = value if flag == "--task" else "visit"
    job = queue.enqueue(task, {"url": f"https://{value}/"} if flag == "--site" else {}, **meant)
    assert cli("cancel", "--since", "1h", "--yes").stdout == "2 jobs moved to the archive\n"

    back = cli("undiscard", flag, value, "--yes")

    assert back.stdout == "1 job put back into the queue\n"
    assert (queue.get(job) is None, queue.get(kept) is None) == (False, True)


def test_a_job_at_work_needs_a_word_more(cli, queue, claim_as):
    job = queue.enqueue("visit", {})
    claim_as()

    refused = cli("cancel", "--id", job, "--yes")
    assert f"job {job} is at work; nothing was done; add --running" in refused.stderr
    assert cli("cancel", "--id", job, "--running", "--yes").returncode == 0
    assert queue.get(job) is None


def test_what_is_at_an_irreversible_step_is_left_alone_and_counted(cli, queue, database, claim_as):
    paying = queue.enqueue("visit", {}, batch="b", priority=-1)
    claim_as()
    database.run_statement("UPDATE work_queue SET irreversible_step = 'paying'")
    ids = [queue.enqueue("visit", {}, batch="b") for _ in range(3)]

    done = cli("cancel", "--batch", "b", "--running", "--limit", 2, "--yes")

    assert done.stdout == (
        "2 jobs moved to the archive; what is at work is stopped within seconds; "
        "1 more at an irreversible step, left alone\n"
    )
    assert queue.get(paying)["status"] == "in_progress"
    assert [queue.get(job) is None for job in ids] == [True, True, False]
    refused = cli("cancel", "--id", ids[2], "--limit", 1, "--yes")
    assert (refused.returncode, "name fewer jobs" in refused.stderr) == (2, True)


def test_enqueue_says_which_ids_it_made(cli, queue, tmp_path):
    (tmp_path / "urls.csv").write_text("url,sku\n" + "".join(f"https://e.org,{n}\n" for n in "abc"))
    queue.enqueue("visit", {}, dedupe_key="b")

    first = cli("enqueue", "https://e.org")
    assert "added 1 job for task visit: id 2\n" in first.stdout
    some = cli("enqueue", tmp_path / "urls.csv", "--dedupe", "{sku}")
    number, skipped = some.stdout.rsplit(": ids ", 1)[1].split(", 1 duplicate")
    ids = [int(part) for part in number.replace("–", ", ").split(", ")]
    assert all(queue.get(job) is not None for job in ids)
    assert skipped == " skipped\n"
    told = json.loads(cli("enqueue", tmp_path / "urls.csv", "--json").stdout)
    ((low, high, step),) = told["ids"]
    assert (told["added"], high - low, step) == (3, 2, 1)


def test_dedupe_keys_are_per_task_unless_asked_otherwise(cli, queue):
    def add(task, *more):
        line = '{"url": "https://e.org"}\n'
        flags = ("--format", "jsonl", "--dedupe", "k", "--task", task, *more)
        return cli("enqueue", "-", *flags, stdin=line).stdout

    assert "added 1 job" in add("visit")
    assert "added 1 job" in add("price")
    assert "1 duplicate skipped" in add("price")
    assert "added 1 job" in add("visit", "--dedupe-across-tasks")
    assert "1 duplicate skipped" in add("price", "--dedupe-across-tasks")


def test_a_batch_and_a_schedule_are_shown_by_status(cli, queue, claim_as):
    assert cli("enqueue", "https://e.org", "--batch", "monday").returncode == 0
    kept = cli(
        "schedule",
        "add",
        "nightly",
        "--cron",
        "0 18 * * 1-5",
        "--timezone",
        "Europe/Berlin",
        "--payload",
        '{"url": "https://example.com"}',
    )
    assert "schedule nightly: 1 job for task visit, next at" in kept.stdout

    told = cli("status").stdout
    assert "batch monday: 1 to go, 0 done, 0 failed\n" in told
    assert "schedule nightly: 0 18 * * 1-5 (Europe/Berlin), 1 job for task visit: next " in told
    queue.complete(claim_as(), {})
    assert cli("tick").stdout == "batch monday is finished\n"
    assert "batch monday: finished " in cli("status").stdout


def test_schedules_are_kept_by_hand(cli, queue, tmp_path):
    (tmp_path / "urls.txt").write_text("https://e.org/1\nhttps://e.org/2\n")
    flags = ("--cron", "*/5 * * * *", "--file", tmp_path / "urls.txt")
    assert cli("schedule", "add", "five", *flags).returncode == 0
    assert cli("schedule", "add", "five", *flags).returncode == 2
    assert cli("schedule", "add", "bad", "--cron", "every day").returncode == 2

    assert cli("schedule", "run-now", "five").stdout == "schedule five: added 2 jobs\n"
    assert queue.counts()["pending"] == 2
    assert "is paused" in cli("schedule", "pause", "five").stdout
    assert ": PAUSED, last " in cli("schedule", "list").stdout
    assert "goes on, next at" in cli("schedule", "resume", "five").stdout
    assert cli("schedule", "remove", "five").returncode == 0
    assert cli("schedule").stdout.startswith("no schedules")
    assert cli("schedule", "pause", "five").returncode == 2
