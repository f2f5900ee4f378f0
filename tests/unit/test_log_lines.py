"""A JSON log line is one object with five fields, however long or strange its message is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.log_lines import FIELDS, MAX_BYTES, json_line, parse


@given(st.text(max_size=20) | st.sampled_from(["☂" * 5000, "x" * 10_000, "\n" * 4000]))
def test_a_line_is_whole_and_short_enough_and_can_be_read_again(message):
    line = json_line(message, level="info", worker="worker 1", job=7)

    assert "\n" not in line
    assert len(line.encode()) <= MAX_BYTES
    found = parse(line)
    assert tuple(found) == FIELDS
    assert message.startswith(found["message"].removesuffix("…")) or found["message"] == message


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        '{"time": 1}',
        '{"time": ',
        json.dumps({"time": "", "level": "evil", "worker": "", "job": 1, "message": ""}),
        json.dumps({"time": "", "level": "info", "worker": "", "job": "x", "message": ""}),
    ],
)
def test_what_somebody_made_up_is_no_line_of_ours(text):
    assert parse(text) is None
