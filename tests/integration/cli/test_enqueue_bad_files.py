"""Files that are not what they seem: a plain reason with a line number, and nothing is added."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial

import pytest

from tests.lifecycle.conftest import REPO, clean_environment, run_command, url_of

MEGABYTE = 1_000_000
GOOD = b"https://example.com/1\n"


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def count(database):
    def count() -> int:
        return int(database.run_statement("SELECT COUNT(*) AS n FROM work_queue")[0]["n"])

    return count


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", GOOD + b"https://example.com/\0\n", "line 2: holds a NUL byte"),
        ("a.txt", "https://example.com/\n".encode("utf-16"), "line 1: begins as UTF-16 does"),
        ("a.csv", "url\nhttps://a/\n".encode("utf-16"), "line 1: begins as UTF-16 does"),
        ("a.txt", GOOD + "https://a/\xe9\n".encode("latin-1"), "line 2: byte 11 is not utf-8"),
        ("a.csv", b"url,n\nhttps://a/,1,2\n", "line 2: has 3 fields, the header has 2"),
        ("a.csv", b'url,n\nhttps://a/,"x"y\n', "line 2: not CSV: "),
        ("a.csv", b'url,n\nhttps://a/,"x\n', "line 2: not CSV: "),
        ("a.csv", b"url,url\nhttps://a/,1\n", 'names the column "url" twice'),
        (
            "a.jsonl",
            b'{"url": "https://a/", "url": "b"}\n',
            'line 1: not JSON: the key "url" stands',
        ),
        ("a.jsonl", b'{"url": "https://a/\\u0000"}\n', "line 1: 'https://a/\\x00' is not"),
        (
            "a.jsonl",
            b'{"url": "https://a/", "manifest": {"profil": "p1"}}\n',
            "line 1: manifest: unknown field 'profil'",
        ),
        (
            "a.jsonl",
            b'{"url": "https://a/"}\n{"url": "https://a/", "manifest": "p1"}\n',
            "line 2: the payload's manifest must be an object",
        ),
        ("a.txt", b"\xf0\x9f\xa6\x89\n", "line 1: '\N{OWL}' is not a URL"),
    ],
)
def test_a_bad_file_is_told_by_line_and_nothing_is_added(cli, count, tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)

    done = cli("enqueue", tmp_path / name)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert count() == 0


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"\xef\xbb\xbf" + GOOD, "utf-8"),
        ("https://example.com/\N{OWL}\n".encode(), "utf-8"),
        ("https://example.com/\xe9\n".encode("latin-1"), "latin-1"),
    ],
    ids=["BOM", "emoji", "latin-1"],
)
def test_a_file_that_only_looks_odd_is_taken(cli, count, tmp_path, data, encoding):
    (tmp_path / "a.txt").write_bytes(data)

    assert cli("enqueue", tmp_path / "a.txt", "--encoding", encoding).returncode == 0
    assert count() == 1


@pytest.mark.parametrize(
    ("name", "head", "tail"),
    [
        ("a.txt", GOOD, b"\n" + GOOD),
        ("a.csv", b"url\n" + GOOD, b"\n" + GOOD),
        ("a.csv", b'url\n"', b'"\n' + GOOD),
        ("a.jsonl", b'{"url": "', b'"}\n'),
    ],
)
def test_a_hundred_megabytes_of_one_line_are_a_bad_line_and_memory_stays_flat(
    settings, database, tmp_path, name, head, tail, count
):
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(head)
        for _ in range(100):
            file.write(b"x" * MEGABYTE)
        file.write(tail)
    # What a process inherits of its parent's peak is not told here, unlike by getrusage().
    script = (
        "import atexit, pathlib, sys\n"
        "show = lambda: sys.stderr.write(pathlib.Path('/proc/self/status').read_text())\n"
        "atexit.register(show)\n"
        "from worker.cli.main import main\n"
        "main(['enqueue', sys.argv[1]])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        cwd=REPO,
        env=clean_environment(tmp_path, DATABASE_URL=url_of(settings)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    path.unlink()

    assert done.returncode == 2
    assert "longer than 1,000,000 bytes" in done.stderr
    peak = re.search(r"VmHWM:\s*(\d+) kB", done.stderr)
    assert peak is not None
    assert int(peak[1]) < 90_000, "a line of 100 MB was held in memory"
    assert count() == 0


@pytest.mark.parametrize("flag", ["--dry-run", "--skip-bad", "--priority=0"])
def test_a_complaint_about_a_line_repeats_no_login(cli, tmp_path, flag):
    lines = [
        "htp://me:hunter2@h.test/",
        "htp://" + "x" * 70 + ":hunter2@h.test/",
        "h?token=hunter2",
    ]
    (tmp_path / "a.txt").write_text("\n".join(["https://h.test/", *lines]))

    done = cli("enqueue", tmp_path / "a.txt", flag)

    assert "3 bad lines" in done.stdout + done.stderr
    assert "hunter2" not in done.stdout + done.stderr
