"""`schedule add`: what its file and flags say of the jobs, each time that it adds them."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker.profiles import store

ADD = ("schedule", "add", "nightly", "--cron", "0 18 * * 1-5")


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def file_of(tmp_path):
    def write(text, name):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.fixture
def added(cli, database):
    """Have the schedule add its jobs now; return what is in the queue."""

    def added():
        assert cli("schedule", "run-now", "nightly").returncode == 0
        rows = database.run_statement(
            "SELECT payload, profile_id, account_id, order_key FROM work_queue ORDER BY id"
        )
        return [(json.loads(row.pop("payload")), *row.values()) for row in rows]

    return added


def test_lines_keep_their_profile_account_and_order_key(cli, file_of, added):
    lines = (
        '{"url": "https://a.example/", "profile_id": "p1", "order_key": "a"}\n'
        '{"url": "https://b.example/", "account_id": "ada"}\n'
    )
    assert cli(*ADD, "--file", file_of(lines, "jobs.jsonl")).returncode == 0

    assert added() == [
        ({"url": "https://a.example/"}, "p1", None, "a"),
        ({"url": "https://b.example/"}, None, "ada", None),
    ]


def test_flags_name_them_for_all_and_columns_become_fields(cli, file_of, added, database):
    store.add_account(database, "ada", by="me")
    csv = file_of("Link,Who\nhttps://a.example/,7\n", "shop.csv")
    flags = ("--map", "url=Link", "--account", "ada", "--order-key", "{Who}")

    assert cli(*ADD, "--file", csv, *flags).returncode == 0
    assert added() == [({"url": "https://a.example/"}, None, "ada", "7")]


def test_one_payload_may_have_them_too(cli, added, database):
    store.add_account(database, "ada", by="me")
    payload = '{"url": "https://a.example/"}'

    assert cli(*ADD, "--payload", payload, "--account", "ada").returncode == 0
    assert added() == [({"url": "https://a.example/"}, None, "ada", None)]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--payload", '{"url": "a.example"}'), "--payload: 'a.example' is not a URL"),
        (("--payload", '{"ulr": "https://a.example/"}'), '--payload: lacks "url"'),
        ((), '--payload: lacks "url"'),
        (("--payload", "{}", "--map", "url=Link"), "--map is for the columns of --file FILE"),
        (("--payload", '{"url": "https://a/"}', "--profile", "p9"), "p9"),
    ],
)
def test_what_could_never_be_done_is_not_kept(cli, flags, said):
    done = cli(*ADD, *flags)

    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert cli("schedule").stdout.startswith("no schedules")
