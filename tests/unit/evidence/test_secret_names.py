"""A payload is looked through for secrets only if its text may hold one."""

from __future__ import annotations

import json

import pytest

from worker.evidence.secret_names import may_hold_secrets


@pytest.mark.parametrize(
    "text",
    [
        *(json.dumps({name: "x"}) for name in ("password", "apiKey", "PIN", "code", "Session-ID")),
        '{"\\u0070assword": "x"}',
        '{"url": "http://me:x@shop.test/"}',
    ],
)
def test_a_payload_that_may_hold_a_secret_is_looked_through(text):
    assert may_hold_secrets(text)
    assert not may_hold_secrets('{"url": "https://shop.test/products/1?page=2"}')
