"""JSON of strangers: refused with its place, or shown as far as it can be."""

from __future__ import annotations

import json

import pytest

from worker import json_text
from worker.json_text import OddJson, parse, parse_stored, problem_in, whole_characters


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1" * 309, "a number of 309 digits"),
        ("-" + "1" * 5000, "a number of 5,000 digits"),
        ("[1e999]", "1e999, which is too large"),
        ('{"a": NaN}', "NaN, which is no number"),
        ("-Infinity", "-Infinity, which is no number"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_python_or_a_server_cannot_hold_is_refused_in_words(text, told):
    with pytest.raises(OddJson, match=told):
        parse(text)


def test_what_is_no_json_is_another_matter():
    with pytest.raises(json.JSONDecodeError):
        parse("{")


@pytest.mark.parametrize("text", ["1" * 308, "1.5e308", '{"a": [null, true, "\\ud83d\\ude00"]}'])
def test_all_else_is_read_as_ever(text):
    assert parse(text) == parse_stored(text) == json.loads(text)


def test_what_is_stored_is_shown_whatever_it_is():
    assert parse_stored(f'{{"n": {"7" * 5000}, "m": 1e999, "ok": 1}}') == {
        "n": "7" * 5000,
        "m": "1e999",
        "ok": 1,
    }
    assert parse_stored("NaN") == "NaN"
    assert parse_stored(f"[-{'7' * 308}, -{'7' * 309}]") == [-int("7" * 308), "-" + "7" * 309]
    assert parse_stored(' \n{"a": 1.50}\t\r') == {"a": 1.5}
    assert parse_stored("{} {}") == "{} {}"
    assert parse_stored("{broken") == "{broken"
    assert parse_stored("[" * 100_000) == "[" * 100_000


def test_a_problem_is_named_with_its_place():
    assert problem_in({"a": [1, {"b": float("inf")}]}, "it") == (
        "it.a[1].b is not JSON: inf is no number there"
    )
    assert problem_in([object()], "it") == "it[0] is not JSON: it is of type object"
    assert problem_in({(1, 2): 3}, "it") == "it is not JSON: a key is of type tuple"
    assert problem_in({"a": [None, True, 1.5, "x", 10**300]}, "it") is None


def test_half_characters_are_replaced_and_halves_that_fit_are_joined():
    value = {"\ud800": ["a\udfff", "\ud83d\ude00", "whole 🦉"]}

    assert whole_characters(value) == {"\ufffd": ["a\ufffd", "😀", "whole 🦉"]}


def test_a_long_run_of_digits_in_a_text_is_no_number():
    text = json.dumps({"id": "7" * 5000})

    assert json_text.has_long_number(text)
    assert problem_in(json.loads(text), "it") is None
