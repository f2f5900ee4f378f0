"""What a task prints leaves its process without the job's secrets."""

from __future__ import annotations

import sys

import pytest

from worker.evidence import known_secrets
from worker.evidence.masked_output import masked_output


@pytest.fixture(autouse=True)
def _secret():
    known_secrets.begin({"password": "a white horse"})
    yield
    known_secrets.end()


def test_lines_are_masked_even_if_they_come_in_pieces(capsys):
    with masked_output():
        for letter in "saw a white horse\n":
            sys.stdout.write(letter)
            sys.stdout.flush()
        sys.stderr.write("a white horse without an end")

    assert capsys.readouterr() == ("saw [redacted]\n", "[redacted] without an end")


def test_the_streams_are_as_before_afterwards(capsys):
    before = sys.stdout, sys.stderr
    with pytest.raises(KeyError), masked_output():
        raise KeyError

    assert (sys.stdout, sys.stderr) == before
    print("still open")  # noqa: T201
    assert capsys.readouterr().out == "still open\n"


def test_a_task_may_put_its_own_stream_there_or_close_ours():
    before = sys.stdout
    try:
        with masked_output():
            sys.stdout = own = object()
        assert sys.stdout is own
    finally:
        sys.stdout = before


def test_a_line_without_an_end_does_not_pile_up(capsys):
    with masked_output():
        sys.stdout.write("x" * 100_001)
        assert len(capsys.readouterr().out) == 100_001
