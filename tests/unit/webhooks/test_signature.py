"""The signature as receivers compute it: pinned byte by byte, because they rely on it."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.unit.webhook_event import EVENT
from worker.webhooks.signature import body_of, signature, signed_headers


def test_the_signature_is_the_hmac_of_time_and_body():
    # printf '1794807823.{}' | openssl dgst -sha256 -hmac secret
    assert signature(b"secret", "1794807823", b"{}") == (
        "f65422b8aaeb8b1078fe2bca5571b746dbb8a192c039beb1c1f883b93a619d78"
    )


def test_the_headers_name_and_sign_the_event():
    event = replace(EVENT, now_seconds=1794807823)
    headers = signed_headers(b"secret", event, b"{}")

    assert headers["Nightshift-Event-Id"] == EVENT.event_id
    assert headers["Nightshift-Job-Id"] == "17"
    assert headers["Nightshift-Timestamp"] == "1794807823"
    assert headers["Nightshift-Signature"] == f"v1={signature(b'secret', '1794807823', b'{}')}"


def test_the_body_is_the_same_at_every_delivery():
    again = replace(EVENT, deliveries=3, now_seconds=99)

    assert body_of(again) == body_of(EVENT)
    assert list(json.loads(body_of(EVENT))) == [
        *("event", "event_id", "job_id", "task", "dedupe_key", "attempt", "happened_at"),
        *("result", "reason"),
    ]
