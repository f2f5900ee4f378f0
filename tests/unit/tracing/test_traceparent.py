"""The traceparent in a payload: read where it is good, passed over where it is not."""

from __future__ import annotations

import json

import pytest

from worker.tracing.traceparent import is_well_formed, of_payload

GOOD = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_traceparent_is_read_from_the_payload():
    assert of_payload(json.dumps({"url": "https://a.example", "traceparent": GOOD})) == GOOD


@pytest.mark.parametrize(
    "payload",
    [
        '{"url": "https://a.example"}',
        '{"note": "a \\"traceparent\\" in a text"}',
        '{"inner": {"traceparent": "' + GOOD + '"}}',
        '{"traceparent": 7}',
        '["traceparent"]',
        '{"traceparent"',
    ],
)
def test_a_payload_without_a_good_one_has_none(payload):
    assert of_payload(payload) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        None,
        GOOD.upper(),
        GOOD + "-more",
        GOOD[:-1],
        GOOD + "\n",
        "ff" + GOOD[2:],
        f"00-{'0' * 32}-b7ad6b7169203331-01",
        f"00-0af7651916cd43dd8448eb211c80319c-{'0' * 16}-01",
    ],
)
def test_what_the_standard_calls_invalid_is_not_well_formed(text):
    assert not is_well_formed(text)
    assert is_well_formed(GOOD)
