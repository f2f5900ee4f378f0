"""`launcher.py enqueue` in all its forms: CSV, JSONL, mapping, keys, times; all of it, or none."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker.database import bulk_insert
from worker.intake.bulk import open_bulk
from worker.intake.jobs import MAX_DEPTH
from worker.queue import runs
from worker.settings import RunSettings

CSV = "sku,Link\n1,https://example.com/1\n2,https://example.com/2\n"
JSONL = '{"url": "https://example.com/1"}\n\n{"url": "https://example.com/🦉", "n": 2}\n'


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def enqueued(database):
    """Read what is in the queue, payloads parsed."""

    def read():
        rows = database.run_statement("SELECT * FROM work_queue ORDER BY id")
        return [{**row, "payload": json.loads(row["payload"])} for row in rows]

    return read


@pytest.fixture
def file_of(tmp_path):
    def write(text, name):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_csv_columns_become_fields(cli, enqueued, file_of):
    done = cli("enqueue", file_of(CSV, "shop.csv"), "--map", "url=Link", "--map", "sku=sku")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "added 2 jobs for task visit: ids 1–2\n"
    assert [job["payload"] for job in enqueued()] == [
        {"url": "https://example.com/1", "sku": "1"},
        {"url": "https://example.com/2", "sku": "2"},
    ]


def test_jsonl_is_taken_as_it_is_from_a_file_or_a_pipe(cli, enqueued, file_of):
    assert cli("enqueue", file_of(JSONL, "jobs.jsonl")).returncode == 0
    assert cli("enqueue", "-", "--format", "jsonl", stdin=JSONL).returncode == 0

    payloads = [job["payload"] for job in enqueued()]
    assert payloads[:2] == payloads[2:]
    assert payloads[1] == {"url": "https://example.com/🦉", "n": 2}


def test_tabs_and_other_encodings_are_read(cli, enqueued, tmp_path):
    path = tmp_path / "shop.tsv"
    path.write_bytes("url\tname\nhttps://example.com/\tcafé\n".encode("latin-1"))

    assert cli("enqueue", path).returncode == 2
    assert cli("enqueue", path, "--encoding", "latin-1").returncode == 0
    assert enqueued()[0]["payload"]["name"] == "café"


def test_taken_dedupe_keys_are_counted_and_not_an_error(cli, enqueued, file_of):
    path = file_of(CSV + "2,https://example.com/2b\n", "shop.csv")
    flags = ("--map", "url=Link", "--dedupe", "shop-{sku}")

    first, second = cli("enqueue", path, *flags), cli("enqueue", path, *flags)

    assert first.stdout == "added 2 jobs for task visit: ids 1–2, 1 duplicate skipped\n"
    assert (second.returncode, second.stderr) == (0, "")
    assert second.stdout == (
        "added 0 jobs for task visit, 3 duplicates skipped: job 1 (pending) has the key 'shop-1', "
        "job 2 (pending) has the key 'shop-2'; a key is free again when its job is archived\n"
    )
    assert [job["dedupe_key"] for job in enqueued()] == ["shop-1", "shop-2"]


def test_priority_attempts_and_time_go_with_the_jobs(cli, enqueued):
    flags = ("--priority", -5, "--max-attempts", 2, "--not-before", "2h")
    assert cli("enqueue", "https://example.com/", *flags).returncode == 0
    at = "2030-01-31T18:00+01:00"
    assert cli("enqueue", "https://example.com/", "--not-before", at).returncode == 0

    soon, later = enqueued()
    assert (soon["priority"], soon["max_attempts"]) == (-5, 2)
    expected = datetime.now(UTC).replace(tzinfo=None) + timedelta(hours=2)
    assert abs(soon["not_before"] - expected) < timedelta(minutes=1)
    assert later["not_before"] == datetime.fromisoformat("2030-01-31T17:00")
    assert (later["priority"], later["max_attempts"]) == (0, None)


def test_a_dry_run_checks_everything_and_adds_nothing(cli, enqueued, file_of):
    good = cli("enqueue", file_of(JSONL, "good.jsonl"), "--dry-run")
    bad = cli("enqueue", file_of(JSONL + "{\n", "bad.jsonl"), "--dry-run")

    assert (good.returncode, good.stdout) == (0, "would add 2 jobs; 0 bad lines\n")
    assert (bad.returncode, bad.stdout) == (2, "would add 2 jobs; 1 bad line\n")
    assert "line 4: not JSON" in bad.stderr
    assert enqueued() == []


def test_a_dry_run_counts_duplicates_of_the_queue_and_of_the_file(cli, enqueued, file_of):
    assert cli("enqueue", "https://a.example/", "--dedupe", "shop-1").returncode == 0
    path = file_of(CSV + "2,https://example.com/2b\n", "shop.csv")
    flags = ("--map", "url=Link", "--dedupe", "shop-{sku}")

    rehearsed = cli("enqueue", path, *flags, "--dry-run")
    as_json = json.loads(cli("enqueue", path, *flags, "--dry-run", "--json").stdout)
    assert len(enqueued()) == 1
    done = cli("enqueue", path, *flags)

    assert rehearsed.stdout == "would add 1 job, 2 duplicates skipped; 0 bad lines\n"
    assert as_json == {"would_add": 1, "duplicates": 2, "bad_lines": 0, "dry_run": True}
    assert "added 1 job for task visit: id 2, 2 duplicates skipped" in done.stdout
    again = cli("enqueue", path, *flags, "--dry-run").stdout
    assert again.startswith("would add 0 jobs, 3 duplicates skipped; 0 bad lines: job 1 (pending)")


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--dry-run", "--dedupe", "{url}")])
def test_a_task_that_nobody_knows_is_told_of_and_one_that_a_run_knows_is_not(cli, database, more):
    told = "no file loaded here and no recent run knows a task named 'price'"
    assert told in cli("enqueue", "http://a/", "--task", "price", *more).stderr

    runs.start_run(database, RunSettings(database.settings), os.getpid(), ["price", "visit"])

    assert "price" not in cli("enqueue", "http://b/", "--task", "price", *more).stderr


def test_an_empty_cell_in_a_key_is_a_bad_line(cli, enqueued, file_of):
    path = file_of("sku,url\n1,http://a/\n,http://b/\n,http://c/\n", "shop.csv")

    done = cli("enqueue", path, "--dedupe", "shop-{sku}")

    assert (done.returncode, enqueued()) == (2, [])
    assert 'line 3: its dedupe key is incomplete: "sku" is empty' in done.stderr
    assert 'line 4: its dedupe key is incomplete: "sku" is empty' in done.stderr


def test_a_key_may_hold_the_date(cli, enqueued, file_of):
    before = datetime.now().astimezone().date()
    assert cli("enqueue", "http://a/", "--dedupe", "{url} {today}").returncode == 0
    after = datetime.now().astimezone().date()

    assert enqueued()[0]["dedupe_key"] in {f"http://a/ {before}", f"http://a/ {after}"}


def test_a_dry_run_refuses_what_the_real_one_would(cli, enqueued):
    late = cli("enqueue", "http://a/", "--dry-run", "--not-before", "2020-01-01T00:00")
    stranger = cli("enqueue", "http://a/", "--dry-run", "--profile", "p9")

    assert (late.returncode, "is in the past" in late.stderr) == (2, True)
    assert (stranger.returncode, "p9" in stranger.stderr) == (2, True)


def test_one_bad_line_at_the_end_and_nothing_is_added_unless_skipped(cli, enqueued, file_of):
    many = "".join(f"https://example.com/{n}\n" for n in range(12_000))
    path = file_of(many + "oops\n", "urls.txt")

    refused = cli("enqueue", path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "has 1 bad line; nothing was added:\n  line 12001: 'oops' is not" in refused.stderr
    assert enqueued() == []

    taken = cli("enqueue", path, "--skip-bad")
    assert taken.returncode == 0
    assert taken.stdout.startswith("added 12,000 jobs for task visit: ids ")
    assert "line 12001" in taken.stderr
    assert len(enqueued()) == 12_000


def test_payloads_are_checked_by_the_tasks_own_declaration(cli, enqueued, file_of):
    done = cli(
        "enqueue", file_of('{"url": "http://a/", "feilds": {}}\n', "x.jsonl"), "--task", "extract"
    )

    assert done.returncode == 2
    assert 'line 1: payload has the unknown field "feilds"; known are url, fields' in done.stderr
    assert enqueued() == []


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--map", "url"), "--map url: write FIELD=COLUMN"),
        (("--map", "url=Nowhere"), 'there is no column "Nowhere"; there are sku, Link'),
        (("--map", "url=Link", "--dedupe", "{nr}"), 'there is no column "nr"'),
        (("--dedupe", "{"), "is not a template"),
        (("--delimiter", "::"), "give one character, or tab"),
        (("--encoding", "klingon"), "--encoding klingon is unknown"),
        (("--encoding", "utf-16"), "convert the file to utf-8"),
        (("--not-before", "someday"), "neither a duration (2h) nor a time"),
        (("--not-before", "999999999999d"), "neither a duration (2h) nor a time"),
        (("--max-attempts", "0"), "--max-attempts"),
        ((), 'lacks "url"; name its column with --map url=COLUMN'),
    ],
)
def test_a_flag_that_cannot_be_meant_is_told(cli, enqueued, file_of, flags, said):
    if "url=Link" not in flags and "--not-before" in flags:
        flags = ("--map", "url=Link", *flags)
    done = cli("enqueue", file_of(CSV, "shop.csv"), *flags)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert enqueued() == []


def test_the_deepest_payload_that_is_let_through_can_be_stored(cli, enqueued):
    depth = MAX_DEPTH - 1
    line = '{"url": "http://a/", "deep": ' + "[" * depth + "]" * depth + "}\n"

    done = cli("enqueue", "-", "--format", "jsonl", stdin=line)

    assert (done.returncode, done.stderr) == (0, "")
    assert len(enqueued()) == 1


def test_an_error_of_the_sending_thread_is_raised_and_takes_everything_back(
    queue, database, monkeypatch
):
    monkeypatch.setattr(bulk_insert, "MAX_STATEMENT_ROWS", 10)
    rows = [('{"n": 1}', None)] * 500 + [("not JSON", None)] + [('{"n": 2}', None)] * 500

    with (
        pytest.raises(Exception, match=r"(?i)json|constraint"),
        open_bulk(database, "visit") as bulk,
    ):
        for _ in bulk.run(rows):
            pass

    assert database.run_statement("SELECT COUNT(*) AS n FROM work_queue")[0]["n"] == 0


def test_an_error_of_the_caller_takes_everything_back_and_the_connection_goes_on(
    queue, database, monkeypatch
):
    monkeypatch.setattr(bulk_insert, "MAX_STATEMENT_ROWS", 10)

    def rows():
        yield from [('{"n": 1}', None)] * 100
        raise RuntimeError("the file went away")

    with pytest.raises(RuntimeError, match="went away"), open_bulk(database, "visit") as bulk:
        for _ in bulk.run(rows()):
            pass

    assert database.run_statement("SELECT COUNT(*) AS n FROM work_queue")[0]["n"] == 0
    assert queue.enqueue_many("visit", [{"n": 1}] * 25) == 25


def test_texts_with_quotes_percent_signs_and_question_marks_arrive_as_they_are(queue, database):
    odd = {"a": 'it\'s 100 % \\ "so"? %(task)s ? 🦉'}

    assert queue.enqueue_many("visit?", [odd]) == 1

    (row,) = database.run_statement("SELECT task, payload FROM work_queue")
    assert (row["task"], json.loads(row["payload"])) == ("visit?", odd)
