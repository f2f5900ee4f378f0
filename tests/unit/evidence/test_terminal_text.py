"""Nothing that a terminal obeys is left of a text, and nothing else is changed."""

from __future__ import annotations

import json
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.evidence.terminal_text import one_line, printable, visible_json

# Controls, format characters, half characters, and what separates lines and paragraphs.
OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Format characters that are letters' own: they show, or shape what shows.
HARMLESS = set(range(0x600, 0x606)) | {0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
HARMLESS |= set(range(0x13430, 0x13440)) | set(range(0x1BCA0, 0x1BCA4))
HARMLESS |= set(range(0x1D173, 0x1D17B))
ANY = st.text(st.characters() | st.sampled_from("\ud800\udfff\x1b\x9b\r\n\t\u202e\u2028\x7f"))


def test_every_character_that_is_no_sign_is_replaced():
    left = [
        hex(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in OBEYED
        and code not in HARMLESS
        and one_line(chr(code)) == chr(code)
    ]

    assert left == []


@pytest.mark.parametrize("text", ["Grüße, 密, 🦉, €", "a b\xa0c", "\ue000", "é̂"])
def test_what_only_shows_is_left_alone(text):
    assert printable(text) == one_line(text) == text


def test_lines_stay_where_several_are_meant_and_nowhere_else():
    text = "one\r\ntwo\nthree\tfour\x85five\u2028six\x0bseven"

    assert printable(text) == "one\ntwo\nthree\tfour?five?six?seven"
    assert one_line(text) == "one two three four five six seven"


@given(ANY)
def test_one_line_is_one_line_that_every_stream_takes(text):
    clean = one_line(text)

    assert len(clean.splitlines()) <= 1
    assert clean.encode() == clean.encode("utf-8", "replace")
    assert printable(clean) == clean


@given(st.dictionaries(ANY, ANY | st.lists(ANY)))
def test_json_that_is_made_visible_means_the_same(value):
    for how in ({}, {"ensure_ascii": False}, {"ensure_ascii": False, "indent": 2}):
        text = visible_json(json.dumps(value, **how))

        assert json.loads(text) == value
        assert printable(text) == text


def test_a_megabyte_takes_no_time_to_speak_of(benchmark_seconds):
    for part in ("\x1b", "a\x1b", "\r\n", "\u202e", "a" * 100 + "\n"):
        text = part * (1_000_000 // len(part))
        assert benchmark_seconds(lambda text=text: one_line(text)) < 0.5
        assert benchmark_seconds(lambda text=text: printable(text)) < 0.5


@pytest.fixture
def benchmark_seconds():
    def seconds(act):
        began = time.process_time()
        act()
        return time.process_time() - began

    return seconds
