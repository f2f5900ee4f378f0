"""Whatever a file holds, every line is a record or a problem with its number."""

from __future__ import annotations

import io

import pytest

from worker.errors import UsageError
from worker.intake.lines import Lines
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


@pytest.mark.parametrize(
    ("data", "delimiter", "told"),
    [
        (b"Link;Nr\nhttps://a/;1\n", ",", "separated by semicolons: give --delimiter ';'"),
        (b"Link\tNr\nhttps://a/\t1\n", ",", "separated by tabs: give --delimiter tab"),
        (b"Link,Nr\nhttps://a/,1\n", ";", "separated by commas: give --delimiter ','"),
    ],
)
def test_a_wrong_delimiter_is_suggested_once(data, delimiter, told):
    with pytest.raises(UsageError, match=told):
        records(data, delimiter=delimiter)


def test_a_header_of_one_plain_column_is_fine():
    assert records(b"url\nhttps://a/;b\n") == [(2, {"url": "https://a/;b"})]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'\n {"url": "http://a"}\n{"url": "http://b"}\n', [(2, "http://a"), (3, "http://b")]),
        (b'\xef\xbb\xbf{"url": "http://a"}', [(1, "http://a")]),
        (b"# pages\nhttp://a\n\nhttp://b", [(2, "http://a"), (4, "http://b")]),
        (b"\n\n", []),
        (b"", []),
    ],
    ids=["JSONL", "JSONL with a BOM", "URLs", "empty lines", "nothing"],
)
def test_json_lines_are_told_from_urls_where_nobody_says_what_they_are(data, found):
    assert records(data, None) == [(number, {"url": url}) for number, url in found]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"url,sku\nhttps://a.example/,7\n", "is not a URL; write http://\u2026 or https://\u2026; "
         "if this is CSV, say so: --format csv"),
        (b'[{"url": "https://a.example/"}]\n', "; if this is JSON, write one object on each line"),
    ],
)  # fmt: skip
def test_what_was_taken_for_urls_says_how_to_tell_its_form(data, said):
    ((number, problem), *rest) = records(data, None)

    assert number == 1
    assert problem.endswith(said)
    assert "if this is" not in str(rest)


def test_a_list_of_urls_needs_no_form():
    good = b"https://a.example/?a,b\nb.example\n"

    assert records(good, None)[0] == (1, {"url": "https://a.example/?a,b"})
    assert records(good, None)[1][1].endswith("https://\u2026")
