"""Records out of lines: a URL a line, CSV with a header, or JSONL; each with its line number."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Literal

from worker import json_text
from worker.errors import UsageError
from worker.intake.lines import MAX_LINE_BYTES, BadLine
from worker.urls import job_url_problem

Format = Literal["text", "csv", "jsonl"]

# One would-be job by its line number: its values, or a text that says why it cannot be one.
Record = tuple[int, dict[str, Any] | str]

TAB = "\t"
DELIMITERS = {";": "semicolons", TAB: "tabs", "|": "bars", ",": "commas"}


def read(lines: Iterable[str], kind: Format | None, delimiter: str = ",") -> Iterator[Record]:
    """Read records of a format, passing over empty lines; None tells JSONL from URLs by itself."""
    if kind is None:
        lines, kind, hint = _guessed(iter(lines))
        if kind == "text":
            return _hinting(read_text(lines), hint)
    if kind == "csv":
        return read_csv(lines, delimiter)
    return read_jsonl(lines) if kind == "jsonl" else read_text(lines)


def _guessed(lines: Iterator[str]) -> tuple[Iterable[str], Format, str]:
    """Look at the first line that says something: no URL begins with a brace.

    The hint says what the lines may be instead, if they are not URLs.
    """
    seen = []
    for line in lines:
        seen.append(line)
        if line.strip() or isinstance(line, BadLine):
            break
    first = seen[-1].strip() if seen else ""
    hint = ""
    if first.startswith("["):
        hint = "; if this is JSON, write one object on each line"
    elif any(sign in first for sign in DELIMITERS):
        hint = "; if this is CSV, say so: --format csv"
    return chain(seen, lines), "jsonl" if first.startswith("{") else "text", hint


def _hinting(found: Iterator[Record], hint: str) -> Iterator[Record]:
    """Add a hint to what is wrong with the first line."""
    for number, values in found:
        is_problem = isinstance(values, str)
        yield number, f"{values}{hint}" if is_problem else values
        hint = ""


def read_text(lines: Iterable[str]) -> Iterator[Record]:
    """Read a URL a line; lines that start with # are comments."""
    for number, line in enumerate(lines, 1):
        url = line.strip()
        if url and not url.startswith("#"):
            yield number, job_url_problem(url) or {"url": url}
        elif isinstance(line, BadLine):
            yield number, line.problem


def read_jsonl(lines: Iterable[str]) -> Iterator[Record]:
    """Read a JSON object a line; one with the same key twice is refused."""
    for number, line in enumerate(lines, 1):
        if isinstance(line, BadLine):
            yield number, line.problem
        elif line.strip():
            yield _parsed(number, line)


def read_csv(lines: Iterable[str], delimiter: str) -> Iterator[Record]:
    """Read rows under a header; a row of another length than the header is refused."""
    bad: list[Record] = []
    reader = csv.reader(_set_aside(lines, bad), delimiter=delimiter, strict=True)
    csv.field_size_limit(MAX_LINE_BYTES)
    header = _header(reader, bad, delimiter)
    while True:
        # A quoted field may hold line ends: a row is named by the line that it begins on.
        began = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield began, f"not CSV: {error}"
            row = []
        if bad:
            # A row that spans a bad line is as bad as the line.
            yield from bad
            bad.clear()
        elif len(row) == len(header):
            # Without `strict`, which would check their lengths again, a million times.
            yield began, dict(zip(header, row))  # noqa: B905
        elif row:
            yield began, f"has {len(row)} fields, the header has {len(header)}"


def _set_aside(lines: Iterable[str], bad: list[Record]) -> Iterator[str]:
    """Pass the lines on, noting the bad ones, of which the reader sees an empty line."""
    for number, line in enumerate(lines, 1):
        if type(line) is BadLine:
            bad.append((number, line.problem))
        yield line


def _header(reader: Iterator[list[str]], bad: list[Record], delimiter: str) -> list[str]:
    try:
        header = [name.strip() for name in next(reader)]
    except StopIteration:
        header = []
    except csv.Error as error:
        raise UsageError(f"the CSV header cannot be read: {error}") from error
    if bad:
        raise UsageError(f"the CSV header, line {bad[0][0]}: {bad[0][1]}")
    _check_delimiter(header, delimiter)
    if not any(header):
        raise UsageError("the CSV file has no header; its first line must name the columns")
    doubled = sorted({name for name in header if header.count(name) > 1})
    if doubled:
        raise UsageError(f'the CSV header names the column "{doubled[0]}" twice')
    if not all(header):
        raise UsageError(f"column {header.index('') + 1} of the CSV header has no name")
    return header


def _check_delimiter(header: list[str], delimiter: str) -> None:
    """Suggest another delimiter once, before every line is bad for want of it."""
    others = [name for name in DELIMITERS if name != delimiter and name in "".join(header)]
    if len(header) != 1 or not others:
        return
    likely = max(others, key=header[0].count)
    raise UsageError(
        f"the CSV header is one column, {header[0]!r}; its columns are probably separated by "
        f"{DELIMITERS[likely]}: give --delimiter {'tab' if likely == TAB else repr(likely)}"
    )


def _parsed(number: int, line: str) -> Record:
    try:
        value = json_text.parse(line, _without_doubles)
    except json_text.OddJson as error:
        return number, str(error)
    except ValueError as error:
        return number, f"not JSON: {error}"
    if not isinstance(value, dict):
        return number, 'not an object; write {"url": "https://…"}'
    return number, value


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'the key "{doubled}" stands twice')
    return found
