"""Lines come whole, and an endless one costs a line."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from worker.supervisor.output import MAX_LINE, LineReader


@pytest.fixture
def pipe() -> Iterator[tuple[LineReader, int]]:
    reader, writer = os.pipe()
    lines = LineReader(reader)
    yield lines, writer
    lines.close()
    os.close(writer)


def read_all(reader: LineReader, times: int = 20) -> list[str]:
    return [line for _ in range(times) for line in reader.read()]


def test_a_line_is_given_when_it_is_whole(pipe):
    reader, writer = pipe
    os.write(writer, b"one\ntw")
    assert reader.read() == ["one"]
    os.write(writer, b"o\n")

    assert reader.read() == ["two"]
    assert reader.read() == []


def test_an_endless_line_is_shown_once_and_cut(pipe):
    reader, writer = pipe
    os.write(writer, b"x" * 60_000)
    seen = read_all(reader)
    os.write(writer, b"y" * 5_000 + b"\nthe next\n")

    assert seen + read_all(reader) == ["x" * MAX_LINE, "the next"]


def test_what_a_child_left_unfinished_is_given_at_its_end(pipe):
    reader, writer = pipe
    os.write(writer, b"last words")

    assert reader.read() + reader.close() == ["last words"]
    assert not reader.is_open
