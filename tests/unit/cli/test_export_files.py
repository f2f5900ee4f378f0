"""The text files that `export` writes: in few writes, and whole however it ends."""

from __future__ import annotations

import json

import pytest

from worker.cli.export_files import Target, text_target, write_csv, write_jsonl


class Writes(list):
    """A file that keeps every write by itself."""

    def write(self, text):
        self.append(text)

    def flush(self):
        pass

    def isatty(self):
        return False


def jobs(count):
    return ({"id": n, "status": "done", "payload": {}, "result": {"n": n}} for n in range(count))


def test_lines_are_written_many_at_a_time():
    file = Writes()

    target = Target(file)
    write_jsonl(jobs(5000), target, None)
    write_csv(jobs(5000), target, ["id", "n"], is_raw=False)
    target.flush()

    lines = "".join(file).splitlines()
    assert [json.loads(line)["id"] for line in lines[:5000]] == list(range(5000))
    assert lines[5000:5003] == ["id,n", "0,0", "1,1"]
    assert len(lines) == 10_001
    assert len(file) < 10


def test_whoever_follows_gets_every_line_at_once():
    file = Writes()

    write_jsonl(jobs(3), Target(file, is_followed=True), None)

    assert [json.loads(line)["id"] for line in file] == [0, 1, 2]


def test_an_export_that_is_broken_off_keeps_what_was_written(tmp_path):
    path = tmp_path / "out.jsonl"

    def broken_off():
        yield from jobs(3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), text_target(path) as target:
        write_jsonl(broken_off(), target, ["id"])

    assert path.read_text() == '{"id": 0}\n{"id": 1}\n{"id": 2}\n'
