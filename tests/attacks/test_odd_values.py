"""Numbers and texts that JSON knows and others do not: each comes to a clear end, and all go on."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker import enqueue
from worker.database.client import DatabaseError
from worker.errors import BadData, PayloadError

LONG = "7" * 5000
TASKS = """
from worker import Fail, task

ODD = {
    "5000 digits": lambda page: 10**5000,
    "400 digits": lambda page: {"deep": [{"n": 10**400}]},
    "nan": lambda page: {"price": float("nan")},
    "infinity": lambda page: [1.0, float("inf")],
    "nan of a page": lambda page: {"n": page.evaluate("0 / 0")},
    "infinity of a page": lambda page: {"n": page.evaluate("-1 / 0")},
    "circle": lambda page: (circle := [], circle.append(circle), circle)[2],
    "half a character": lambda page: {"title": page.evaluate("'a' + String.fromCharCode(0xd83d)")},
    "half a key": lambda page: {page.evaluate("String.fromCharCode(0xdc00)"): 1},
    "a nul": lambda page: {"title": page.evaluate("'a' + String.fromCharCode(0)")},
    "an emoji": lambda page: {"title": page.evaluate("String.fromCodePoint(0x1f989)")},
    "large": lambda page: {"n": 10**300, "x": 1.7e308},
}

@task("odd")
def odd(page, payload, job):
    return ODD[payload["what"]](page)

@task("fails_oddly", max_attempts=1)
def fails_oddly(page, payload, job):
    job.step(page.evaluate("'step ' + String.fromCharCode(0xd83d)"))
    raise Fail(page.evaluate("'why ' + String.fromCharCode(0xd83d)"))

@task("echo")
def echo(page, payload, job):
    return payload
"""
OF_TASKS = {
    "5000 digits": ("error", "result is a number of more than 308 digits; write it as a text"),
    "400 digits": ("error", "result.deep[0].n is a number of more than 308 digits"),
    "nan": ("error", "result.price is not JSON: nan is no number there"),
    "infinity": ("error", "result[1] is not JSON: inf is no number there"),
    "nan of a page": ("error", "result.n is not JSON: nan"),
    "infinity of a page": ("error", "result.n is not JSON: -inf"),
    "circle": ("error", "result is nested too deeply"),
    "half a character": ("done", {"title": "a\ufffd"}),
    "half a key": ("done", {"\ufffd": 1}),
    "a nul": ("done", {"title": "a\0"}),
    "an emoji": ("done", {"title": "\U0001f989"}),
    "large": ("done", None),
}
# As plain SQL inserts them; a server may refuse some itself.
PAYLOADS = {
    f'{{"n": {LONG}}}': "it holds a number of 5,000 digits; write it as a text",
    f'{{"n": -{LONG}}}': "it holds a number of 5,000 digits",
    '{"n": 1e999}': "it holds the number 1e999, which is too large",
    '{"n": [{"m": -1e999}]}': "it holds the number -1e999, which is too large",
    f'{{"manifest": {{"profile": "p"}}, "n": {LONG}}}': "it holds a number of 5,000 digits",
    '{"t": "half \\\\ud83d"}': None,
    '{"t": "\\\\u0000\\\\u001b[2J"}': None,
    "[1]": "the payload is a list, not an object",
    "1e999": "it holds the number 1e999",
}


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(TASKS, encoding="utf-8")
    return path


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def insert(database, payload: str) -> int | None:
    """Add a job as any program may, unless the server itself refuses it."""
    try:
        database.run_statement(
            f"INSERT INTO work_queue (task, payload) VALUES ('echo', '{payload}')"
        )
    except (BadData, DatabaseError):
        return None
    return int(database.run_statement("SELECT MAX(id) AS id FROM work_queue")[0]["id"])


def test_what_a_task_returns_is_stored_or_refused_with_its_place(queue, launch, own):
    jobs = {what: queue.enqueue("odd", {"what": what}, max_attempts=1) for what in OF_TASKS}

    assert launch("--workers", 1, "--tasks", own).wait() == 0

    for what, (status, told) in OF_TASKS.items():
        job = queue.get(jobs[what])
        assert job["status"] == status, (what, job["last_error"])
        if status == "error":
            assert told in job["last_error"], what
        elif told is not None:
            assert json.loads(job["result"]) == told, what


def test_a_failure_told_in_half_characters_is_a_failure_like_any_other(queue, launch, own, cli):
    job = queue.enqueue("fails_oddly", {})

    assert launch("--workers", 1, "--tasks", own).wait() == 0

    assert queue.get(job)["status"] == "error"
    (attempt,) = json.loads(cli("show", job, "--json").stdout)["attempts"]
    assert (attempt["reason"], attempt["last_step"]) == ("why ?", "step ?")


def test_odd_payloads_are_told_of_and_everything_goes_on(database, queue, launch, own, cli):
    jobs = {text: job for text in PAYLOADS if (job := insert(database, text)) is not None}
    good = queue.enqueue("echo", {"fine": 1})

    run = launch("--workers", 1, "--tasks", own, "--wait-retries", "0")
    assert run.wait() == 0

    for text, job in jobs.items():
        told = PAYLOADS[text]
        row = queue.get(job)
        assert row["status"] == ("done" if told is None else "error"), (text, row["last_error"])
        assert told is None or told in row["last_error"]
        json.loads(cli("show", job, "--json").stdout)
        assert cli("show", job).returncode == cli("why", job).returncode == 0
    assert queue.get(good)["status"] == "done"
    for form in ("jsonl", "csv"):
        done = cli("export", "--status", "all", "--format", form)
        count = len(jobs) + 1
        assert (done.returncode, done.stderr) == (0, f"exported {count} jobs\n")
        assert len(done.stdout.splitlines()) == count + (form == "csv")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f'{{"n": {LONG}}}', "it holds a number of 5,000 digits; write it as a text"),
        ('{"n": 1e999}', "it holds the number 1e999, which is too large"),
        ('{"n": NaN}', "it holds NaN, which is no number in JSON"),
        ('{"n": [-Infinity]}', "it holds -Infinity, which is no number in JSON"),
        ('{"t": "\\ud800"}', "holds half a character"),
        ('{"\\udfff": 1}', "holds half a character"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 40 + "1" + "}" * 40, "nested too deeply"),
    ],
)
def test_a_line_that_no_server_stores_is_named_and_the_others_are_added(
    cli, queue, tmp_path, line, told
):
    path = tmp_path / "jobs.jsonl"
    path.write_text(f'{{"fine": 1}}\n{line}\n{{"fine": 2}}\n', encoding="utf-8")

    refused = cli("enqueue", path, "--task", "echo")
    added = cli("enqueue", path, "--task", "echo", "--skip-bad")

    assert (refused.returncode, added.returncode) == (2, 0)
    assert f"line 2: {told}" in refused.stderr
    assert f"line 2: {told}" in added.stderr
    assert queue.counts()["pending"] == 2


@pytest.mark.parametrize(
    "payload", [{"n": 10**400}, {"n": float("nan")}, {"t": "\ud800"}, {"deep": [{"n": 10**5000}]}]
)
def test_a_program_is_refused_the_same(payload):
    with pytest.raises(PayloadError):
        enqueue("echo", payload, connection=object())


def test_a_result_that_was_stored_long_ago_is_exported_all_the_same(cli, finish_as, database):
    """An earlier version, or another program, may have stored what Python cannot hold."""
    finish_as(f'{{"n": {LONG}, "x": 1e999}}')
    finish_as('{"n": 1}')

    done = cli("export")

    told = [json.loads(line)["result"] for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr.startswith("exported ")) == (0, True)
    assert told[-1] == {"n": 1}
    assert told[0] in ({"n": LONG, "x": "1e999"}, {"n": 1})


@pytest.fixture
def finish_as(database):
    """Add a job that has ended with this result, as far as the server takes it."""

    def finish(result):
        # MySQL refuses such numbers itself; MariaDB keeps the text.
        with suppress(BadData, DatabaseError):
            database.run_statement(
                "INSERT INTO work_queue (task, payload, status, finished_at, result)"
                f" VALUES ('echo', '{{}}', 'done', UTC_TIMESTAMP(6), '{result}')"
            )

    return finish
