"""`launcher.py export`: every finished job once, in the order they finished, and safe to open."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from tests.conftest import because
from tests.lifecycle.conftest import REPO, clean_environment, run_command, url_of


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def ids(text):
    return [json.loads(line)["id"] for line in text.splitlines()]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_jsonl_holds_whole_jobs_in_the_order_they_finished(cli, finish):
    second = finish({"title": "Zwei 🦉"}, ago=50)
    first = finish({"title": "Eins"}, ago=90)

    done = cli("export")

    assert (done.returncode, done.stderr) == (0, "exported 2 jobs\n")
    assert ids(done.stdout) == [first, second]
    job = json.loads(done.stdout.splitlines()[1])
    assert (job["task"], job["status"], job["result"]) == ("visit", "done", {"title": "Zwei 🦉"})
    assert job["payload"] == {"url": "https://example.com/"}
    assert job["finished_at"].endswith("Z")


def test_csv_has_a_column_for_every_key_of_the_results(cli, finish, tmp_path):
    finish({"title": "One", "tags": ["a", "b"]}, ago=9)
    finish({"title": "Two", "price": 1.5}, ago=8)
    finish("a text", ago=7)
    path = tmp_path / "out.csv"

    assert cli("export", "-o", path).returncode == 0

    one, two, text = rows(path.read_text(encoding="utf-8"))
    assert list(one)[:6] == ["id", "task", "status", "attempts", "finished_at", "url"]
    assert (one["title"], one["tags"], one["price"]) == ("One", '["a", "b"]', "")
    assert (two["title"], two["price"]) == ("Two", "1.5")
    assert text["result"] == "a text"


def test_columns_are_chosen_in_the_order_they_are_named_and_each_once(cli, finish):
    finish({"title": "One", "status": 200})
    broken = finish(None, status="error")

    names = "title,url,title,result.status,status"
    done = cli("export", "--format", "csv", "--columns", names)
    assert done.stdout.splitlines() == [
        "title,url,result.status,status", "One,https://example.com/,200,done",
    ]  # fmt: skip
    assert done.stderr == "exported 1 job\n"
    lines = cli("export", "--columns", "payload.url,title").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"payload.url": "https://example.com/", "title": "One"}
    ]
    failed = cli("export", "--status", "error", "--format", "csv", "--columns", "id,last_error")
    assert rows(failed.stdout) == [{"id": str(broken), "last_error": "it broke"}]


def test_a_column_that_no_job_has_is_refused_before_anything_is_written(cli, finish, tmp_path):
    finish({"title": "One"})
    path = tmp_path / "out.csv"

    done = cli("export", "--columns", "id,titel", "-o", path)

    assert (done.returncode, path.exists()) == (2, False)
    assert done.stderr == "nightshift: --columns: no job has titel; did you mean title?\n"
    assert cli("export", "--task", "none", "--columns", "id,titel", "-o", path).returncode == 0
    assert path.read_text() == "id,titel\n"


def test_rows_and_columns_agree(cli, finish):
    first = finish({"rows": [{"sku": "a", "id": 1}, {"sku": "b", "id": 2}], "page": 7}, ago=9)
    finish({"sku": "c"}, ago=8)

    done = cli("export", "--rows", "--format", "csv", "--columns", "id,row,sku,result.id")

    assert [tuple(row.values()) for row in rows(done.stdout)][:2] == [
        (str(first), "1", "a", "1"), (str(first), "2", "b", "2"),
    ]  # fmt: skip
    assert done.stderr == "exported 3 rows of 2 jobs\n"
    table = rows(cli("export", "--rows", "--format", "csv").stdout)
    # MySQL sorts the keys of JSON objects.
    assert sorted(list(table[0])[5:]) == ["page", "result.id", "row", "sku", "url"]
    assert cli("export", "--format", "csv", "--columns", "row").returncode == 2


def test_each_row_has_what_the_task_returned_beside_its_rows(cli, finish):
    finish({"rows": [{"sku": "a"}, {"sku": "b", "page": 8}], "page": 7}, ago=9)
    finish({"rows": ["c"], "page": 9}, ago=8)
    finish({"rows": ["d"]}, ago=7)

    lines = cli("export", "--rows").stdout.splitlines()

    assert [json.loads(line)["result"] for line in lines] == [
        {"sku": "a", "page": 7}, {"sku": "b", "page": 8}, {"result": "c", "page": 9}, "d",
    ]  # fmt: skip
    table = rows(cli("export", "--rows", "--format", "csv", "--columns", "result,page").stdout)
    assert [(row["result"], row["page"]) for row in table][2:] == [("c", "9"), ("d", "")]


def test_failed_jobs_say_why_in_csv_and_jsonl(cli, finish, queue, claim_as):
    by_hand = finish(None, status="error", ago=60)
    job = queue.enqueue("visit", {"url": "https://example.com/"}, priority=-1)
    why = because("HTTP 404 from https://example.com/", last_error="Traceback …\nFail: HTTP 404")
    queue.fail(claim_as(), why)
    finish({"title": "Fine", "reason": "of the page's own"}, ago=50)

    told = [json.loads(line) for line in cli("export", "--status", "error").stdout.splitlines()]
    assert [(each["id"], each["reason"]) for each in told] == [
        (by_hand, "it broke"),
        (job, "HTTP 404 from https://example.com/"),
    ]
    table = rows(cli("export", "--status", "error", "--format", "csv").stdout)
    assert [row["reason"] for row in table] == ["it broke", "HTTP 404 from https://example.com/"]
    mixed = rows(cli("export", "--status", "all", "--format", "csv").stdout)
    assert [row["title"] for row in mixed] == ["", "Fine", ""]
    assert mixed[2]["reason"].startswith("HTTP 404")
    (fine,) = rows(cli("export", "--format", "csv").stdout)
    assert fine["reason"] == "of the page's own"


def test_following_csv_tells_of_keys_that_its_header_lacks(settings, tmp_path, finish, eventually):
    output = tmp_path / "out.csv"
    with (tmp_path / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "launcher.py", "export", "--follow", "-o", str(output)],
            cwd=REPO,
            env=clean_environment(tmp_path, DATABASE_URL=url_of(settings)),
            stderr=stderr,
        )
    try:
        # The header waits for the first job, whose keys it takes.
        finish({"title": "One"}, ago=10)
        eventually(lambda: output.exists() and len(rows(output.read_text())) == 1)
        late = finish({"title": "Two", "price": 7, "stock": 1}, ago=0)
        finish({"title": "Three", "price": 8}, ago=0)
        eventually(lambda: len(rows(output.read_text())) == 3)
    finally:
        process.kill()
        process.communicate()

    assert [row["title"] for row in rows(output.read_text())] == ["One", "Two", "Three"]
    line = (tmp_path / "stderr").read_text().splitlines()[0]
    assert line.startswith(
        f"job {late} has price, stock, which the CSV header lacks; it is left out"
    )


def test_results_are_chosen_by_task_status_and_time(cli, finish):
    old = finish({}, ago=7200)
    new = finish({}, ago=60)
    other = finish({}, task="mine", ago=50)
    broken = finish(None, status="error", ago=40)

    assert ids(cli("export").stdout) == [old, new, other]
    assert ids(cli("export", "--task", "mine").stdout) == [other]
    assert ids(cli("export", "--status", "error").stdout) == [broken]
    assert ids(cli("export", "--status", "all").stdout) == [old, new, other, broken]
    assert cli("export", "--task", "none").stdout == ""
    hour_ago = _hours_ago(1)
    assert ids(cli("export", "--since", hour_ago).stdout) == [new, other]
    assert ids(cli("export", "--before", hour_ago).stdout) == [old]


def _hours_ago(hours):
    return (datetime.now(UTC) - timedelta(hours=hours)).isoformat()


def test_a_time_that_is_none_is_refused(cli):
    done = cli("export", "--since", "yesterday")
    assert done.returncode == 2
    assert "--since yesterday is not a time; write 2026-01-31T18:00" in done.stderr


def test_what_a_spreadsheet_would_run_is_defused_unless_raw_is_wanted(cli, finish):
    texts = ["=1+1", "+1", "-1", "@x", "\tx", "fine"]
    finish({"cells": 1, **{f"c{n}": text for n, text in enumerate(texts)}, "number": -1})

    (safe,) = rows(cli("export", "--format", "csv").stdout)
    (raw,) = rows(cli("export", "--format", "csv", "--raw").stdout)

    assert [safe[f"c{n}"] for n in range(6)] == ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "fine"]
    assert [raw[f"c{n}"] for n in range(6)] == texts
    assert safe["number"] == "-1"


def test_a_column_that_a_spreadsheet_would_run_is_defused_too(cli, finish):
    finish({"=cmd()": 7})

    (safe,) = rows(cli("export", "--format", "csv").stdout)
    (raw,) = rows(cli("export", "--format", "csv", "--raw").stdout)

    assert (safe["'=cmd()"], raw["=cmd()"]) == ("7", "7")


def test_following_goes_on_with_what_finishes_later_and_repeats_nothing(
    settings, tmp_path, finish, eventually
):
    expected = [finish({"n": 1}, ago=10)]
    output = tmp_path / "out.jsonl"
    process = subprocess.Popen(
        [sys.executable, "launcher.py", "export", "--follow", "-o", str(output)],
        cwd=REPO,
        env=clean_environment(tmp_path, DATABASE_URL=url_of(settings)),
        stderr=subprocess.PIPE,
        # A shell makes what runs in its background ignore Ctrl-C, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    try:
        eventually(lambda: output.exists() and ids(output.read_text()) == expected)
        expected.append(finish({"n": 2}, ago=0))
        eventually(lambda: ids(output.read_text()) == expected)
        expected.append(finish({"n": 3}, ago=0))
        eventually(lambda: ids(output.read_text()) == expected)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
        assert stderr.decode() == f"exported 3 jobs to {output}\n"
    finally:
        process.kill()
        process.communicate()


def test_a_file_that_cannot_be_written_is_told(cli, finish):
    done = cli("export", "-o", "/no/such/folder/x.csv")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


def test_archived_jobs_are_exported_when_asked_for_in_the_order_they_finished(
    cli, finish, put_away
):
    second = finish({"n": 2}, ago=50)
    first = finish({"n": 1}, ago=90)
    third = finish({"n": 3}, ago=40)
    put_away(first, third)

    assert ids(cli("export").stdout) == [second]
    done = cli("export", "--archived")

    assert (done.returncode, done.stderr) == (0, "exported 3 jobs\n")
    assert ids(done.stdout) == [first, second, third]
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [bool(job["archived_at"]) for job in told] == [True, False, True]
    assert [job["result"]["n"] for job in told] == [1, 2, 3]
    assert told[0]["payload"] == {"url": "https://example.com/"}
    table = rows(cli("export", "--archived", "--format", "csv").stdout)
    assert [(row["id"], row["n"]) for row in table] == [
        (str(first), "1"), (str(second), "2"), (str(third), "3"),
    ]  # fmt: skip


def test_archived_jobs_are_chosen_as_others_are(cli, finish, put_away):
    old = finish({}, ago=7200)
    other = finish({}, task="mine", ago=50)
    broken = finish(None, status="error", ago=40)
    put_away()

    def found(*flags):
        return ids(cli("export", "--archived", *flags).stdout)

    assert found() == [old, other]
    assert found("--task", "mine") == [other]
    assert found("--status", "error") == [broken]
    assert found("--status", "all") == [old, other, broken]
    assert found("--since", _hours_ago(1)) == [other]
    assert found("--before", _hours_ago(1)) == [old]


def test_an_archived_failure_still_says_why(cli, queue, claim_as, put_away):
    job = queue.enqueue("visit", {"url": "https://example.com/"})
    queue.fail(claim_as(), because("HTTP 404 from https://example.com/", last_error="Fail: x"))
    assert put_away(job) == 1

    (line,) = cli("export", "--archived", "--status", "error").stdout.splitlines()

    assert json.loads(line)["reason"] == "HTTP 404 from https://example.com/"
