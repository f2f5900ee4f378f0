"""`launcher.py enqueue`: URLs from an argument, a file or a pipe; all of them, or none."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of

URLS = ["https://example.com/1", "http://example.com:8080/?q=1&r=%20#top", "HTTPS://EXAMPLE.COM"]


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def enqueued(database):
    """Read what is in the queue: (task, URL) in order."""

    def read() -> list[tuple[str, str]]:
        rows = database.run_statement("SELECT task, payload FROM work_queue ORDER BY id")
        return [(row["task"], json.loads(row["payload"])["url"]) for row in rows]

    return read


def test_one_url_is_one_job(cli, enqueued):
    done = cli("enqueue", URLS[1])

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "added 1 job for task visit: id 1\n"
    assert enqueued() == [("visit", URLS[1])]


def test_an_empty_database_gets_its_schema_first(settings, tmp_path, mysql):
    done = run_command(tmp_path, "enqueue", URLS[0], DATABASE_URL=url_of(settings))

    assert done.returncode == 0
    with mysql.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM work_queue")
        assert cursor.fetchone() == (1,)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(URLS).encode(),
        b"\xef\xbb\xbf" + "\r\n".join(URLS).encode() + b"\r\n",
        f"# a comment\n\n  {URLS[0]}  \n{URLS[1]}\n\t# another\n{URLS[2]}\n\n".encode(),
    ],
    ids=["plain", "with BOM and CRLF", "with comments and blanks"],
)
@pytest.mark.parametrize("way", ["file", "pipe"])
def test_a_list_of_urls_is_a_job_a_line(cli, enqueued, tmp_path, text, way):
    path = tmp_path / "urls.txt"
    path.write_bytes(text)

    done = cli("enqueue", path) if way == "file" else cli("enqueue", "-", stdin=text)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "added 3 jobs for task visit: ids 1–3\n"
    assert enqueued() == [("visit", url) for url in URLS]


def test_jobs_can_be_for_another_task(cli, enqueued):
    assert cli("enqueue", URLS[0], "--task", "mine").returncode == 0
    assert enqueued() == [("mine", URLS[0])]


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_bad_lines_are_listed_by_number_and_nothing_is_added(cli, enqueued, tmp_path, way):
    text = f"{URLS[0]}\nexample.com\n# fine\nhttp://\nftp://x/\nhttp://a b/\n{URLS[1]}\n"
    path = tmp_path / "urls.txt"
    path.write_text(text, encoding="utf-8")

    done = cli("enqueue", path) if way == "file" else cli("enqueue", "-", stdin=text)

    assert (done.returncode, done.stdout) == (2, "")
    head, *lines = done.stderr.splitlines()
    assert "has 4 bad lines; nothing was added" in head
    assert [line.split(":")[0] for line in lines] == [f"  line {n}" for n in (2, 4, 5, 6)]
    assert "'example.com' is not a URL; write http://… or https://…" in lines[0]
    assert enqueued() == []


def test_of_many_bad_lines_the_first_are_listed_and_the_rest_counted(cli):
    done = cli("enqueue", "-", stdin="bad\n" * 25)

    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 22
    assert lines[-1] == "  and 5 more"


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_bytes_that_are_not_utf8_are_a_bad_line_and_not_another_url(cli, enqueued, tmp_path, way):
    text = b"https://example.com/1\nhttps://example.com/caf\xe9\n"
    path = tmp_path / "urls.txt"
    path.write_bytes(text)

    done = cli("enqueue", path) if way == "file" else cli("enqueue", "-", stdin=text)

    assert (done.returncode, done.stdout) == (2, "")
    assert "line 2" in done.stderr
    assert enqueued() == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ftp://example.com/", "is not a URL; write http://… or https://…"),
        ("http://", "is not a URL"),
        ("http://x;id;/p", "'x;id;' cannot be the name of a host"),
        ("http://$(id)/p1", "'$(id)' cannot be the name of a host"),
        ("https://example.com/" + "x" * 9000, "longer than 8192 characters"),
        ("example.com", "example.com is neither a URL (http://…, https://…) nor a file"),
        ("/no/such/file.txt", "nor a file"),
        ("/", "nor a file"),
        ("/dev/null", "nor a file"),
        ("-", "standard input has no job in it; nothing was added"),
    ],
)
def test_a_source_that_is_none_is_refused(cli, enqueued, source, said):
    done = cli("enqueue", source)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert enqueued() == []


def test_a_task_name_too_long_for_its_column_is_one_line(cli, enqueued):
    done = cli("enqueue", URLS[0], "--task", "x" * 65)

    assert done.returncode not in (0, 1)
    assert len(done.stderr.splitlines()) == 1
    assert "task" in done.stderr
    assert enqueued() == []
