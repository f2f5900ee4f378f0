"""Whatever a file holds, every line is a job or a problem with its number, and memory is flat."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest

from worker.errors import UsageError
from worker.intake.jobs import MAX_DEPTH, JobMaker, Problem, Template
from worker.intake.lines import MAX_LINE_BYTES, Lines
from worker.intake.records import read


def records(data, kind="csv", *, encoding="utf-8", delimiter=","):
    """Read (line number, values or problem) of everything."""
    return list(read(Lines(io.BytesIO(data), encoding), kind, delimiter))


def test_a_csv_row_is_a_record_with_its_line():
    assert records(b"sku,url\n1,http://a\n\n2,http://b\n") == [
        (2, {"sku": "1", "url": "http://a"}),
        (3 + 1, {"sku": "2", "url": "http://b"}),
    ]


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("\ufeffname,n\r\ncafé,1\r\n".encode(), "utf-8"),
        ("name,n\r\ncafé,1\r\n".encode("latin-1"), "latin-1"),
        ("name,n\ncafé,1".encode("cp1252"), "cp1252"),
        ("\ufeffname,n\ncafé,1".encode(), "utf-8-sig"),
    ],
    ids=["BOM and CRLF", "latin-1", "cp1252", "utf-8-sig"],
)
def test_files_of_spreadsheets_are_read(data, encoding):
    assert records(data, encoding=encoding) == [(2, {"name": "café", "n": "1"})]


def test_quotes_hold_commas_quotes_and_line_ends():
    assert records(b'a,b\n"x, ""y""","two\nlines"\nlast,1\n') == [
        (2, {"a": 'x, "y"', "b": "two\nlines"}),
        (4, {"a": "last", "b": "1"}),
    ]


def test_emoji_and_other_scripts_stay_what_they_are():
    ((_, values),) = records("name\n🦉 Ночь 夜\n".encode())
    assert values == {"name": "🦉 Ночь 夜"}


def test_bad_lines_are_named_and_the_good_ones_around_them_are_read():
    data = b"a,b\n1,2\n1\n1,2,3\n\xff,x\n4\0,5\n6,7\n"
    found = records(data)

    assert [number for number, _ in found] == [2, 3, 4, 5, 6, 7]
    assert found[0][1] == {"a": "1", "b": "2"}
    assert found[1][1] == "has 1 fields, the header has 2"
    assert found[2][1] == "has 3 fields, the header has 2"
    assert found[3][1].startswith("byte 1 is not utf-8; say what it is with --encoding, such as")
    assert found[4][1] == "holds a NUL byte"
    assert found[5][1] == {"a": "6", "b": "7"}


def test_bad_lines_at_the_end_are_not_lost():
    assert [number for number, _ in records(b"a\n1\n\xff\n\xfe\n")] == [2, 3, 4]


def test_a_row_that_spans_a_bad_line_is_not_used():
    found = records(b'a,b\n1,"x\n\xff\ny"\n2,3\n')
    assert [number for number, _ in found] == [3, 5]
    assert "not utf-8" in found[0][1]


def test_an_unclosed_quote_is_a_problem_of_the_line_where_it_began():
    (good, bad) = records(b'a,b\n1,2\n3,"open\n5,6\n')
    assert good == (2, {"a": "1", "b": "2"})
    assert bad[0] == 3
    assert bad[1].startswith("not CSV: ")


def test_text_after_a_closing_quote_is_a_problem():
    found = records(b'a,b\n"x"y,2\n3,4\n')
    assert found[0][0] == 2
    assert found[0][1].startswith("not CSV: ")
    assert found[1] == (3, {"a": "3", "b": "4"})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no header"),
        (b"\n1\n", "no header"),
        (b"a,a\n1,2\n", '"a" twice'),
        (b"a,,c\n1,2,3\n", "column 2 of the CSV header has no name"),
        (b"\xff\xfea\0\n", "the CSV header, line 1: begins as UTF-16 does; save the file"),
        ("a\n".encode("utf-16-be"), "the CSV header, line 1: holds a NUL byte"),
        ("caf\xe9\n".encode("latin-1"), "the CSV header, line 1: byte 4 is not utf-8"),
    ],
)
def test_a_header_that_is_none_is_refused_at_once(data, said):
    with pytest.raises(UsageError, match=said):
        records(data)


def test_tabs_and_semicolons_separate_too():
    assert records(b"a\tb\n1\t2\n", delimiter="\t") == [(2, {"a": "1", "b": "2"})]
    assert records(b"a;b\n1;2\n", delimiter=";") == [(2, {"a": "1", "b": "2"})]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a": 1, "a": 2}', 'the key "a" stands twice'),
        ('{"a": {"b": 1, "b": 1}}', 'the key "b" stands twice'),
        ("[1]", "not an object"),
        ("{", "not JSON: "),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_jsonl_that_is_none_is_named(line, said):
    found = records(f'{{"n": 1}}\n{line}\n{{"n": 3}}\n'.encode(), "jsonl")
    assert [number for number, _ in found] == [1, 2, 3]
    assert said in found[1][1]


class Endless(io.RawIOBase):
    """A line of many megabytes that is never in memory as a whole, and a good one after it."""

    def __init__(self, megabytes: int) -> None:
        self._left = megabytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        if self._left < 0:
            return 0
        self._left -= 1
        data = b"x" * 1_000_000 if self._left >= 0 else b"\nhttp://good/\n"
        size = min(len(buffer), len(data))
        buffer[:size] = data[:size]
        return size


def test_a_hundred_megabytes_of_one_line_are_passed_over_with_flat_memory():
    lines = Lines(io.BufferedReader(Endless(megabytes=1000), buffer_size=1_000_000))
    tracemalloc.start()
    try:
        found = list(read(lines, "text"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert lines.bytes_read > 100_000_000
    assert peak < 10_000_000
    assert found == [
        (1, f"longer than {MAX_LINE_BYTES:,} bytes"),
        (2, {"url": "http://good/"}),
    ]


def jobs(data, kind="csv", **how):
    return list(JobMaker(**how).make(read(Lines(io.BytesIO(data)), kind)))


def test_a_mapping_picks_and_renames_columns():
    (job,) = jobs(b"Link,Nr,x\nhttp://a,7,y\n", columns={"url": "Link", "sku": "Nr"})
    assert json.loads(job[0]) == {"url": "http://a", "sku": "7"}


def test_an_unknown_column_in_a_mapping_or_a_template_is_named():
    (problem,) = jobs(b"a,b\n1,2\n", columns={"url": "Link"})
    assert problem == Problem(2, 'there is no column "Link"; there are a, b')
    (problem,) = jobs(b"a,b\n1,2\n", dedupe="shop-{sku}")
    assert problem == Problem(2, 'there is no column "sku"; there are a, b')


def test_a_dedupe_key_is_filled_from_columns_and_fields():
    (job,) = jobs(b"Nr\n7\n", columns={"sku": "Nr"}, dedupe="{Nr}/{sku}/{{x}}")
    assert job[1] == "7/7/{x}"


def test_an_overlong_dedupe_key_is_a_problem():
    (problem,) = jobs(b"a\n" + b"x" * 192 + b"\n", dedupe="{a}")
    assert problem.text == "its dedupe key is longer than 191 characters"


@pytest.mark.parametrize("text", ["{", "}", "{}", "x{}y"])
def test_a_template_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="--dedupe"):
        Template(text)


def test_what_cannot_be_stored_is_a_problem_of_its_line():
    found = jobs(b'{"a": NaN}\n{"a": "\\ud800"}\n{"a": 1}\n', "jsonl")
    assert [type(item) for item in found] == [Problem, Problem, tuple]


def test_nesting_deeper_than_a_server_stores_is_a_problem():
    def nested(depth):
        return ('{"a": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}\n").encode()

    assert isinstance(jobs(nested(MAX_DEPTH), "jsonl")[0], tuple)
    assert jobs(nested(MAX_DEPTH + 1), "jsonl") == [Problem(1, "nested too deeply")]
    assert isinstance(jobs(b'{"a": "' + b"[" * 99 + b'"}', "jsonl")[0], tuple)
