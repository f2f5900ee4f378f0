"""The signature as receivers compute it: pinned byte by byte, because they rely on it."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from dataclasses import replace

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

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


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("correct horse", f"whsec_{b64encode(b'correct horse').decode()}"),
        ("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"),
        ("whsec_not base64!", b"whsec_not base64!"),
    ],
)
def test_the_library_of_standard_webhooks_accepts_what_we_sign_and_nothing_else(ours, theirs):
    event = replace(EVENT, now_seconds=int(time.time()))
    body = body_of(event)
    headers = signed_headers(ours.encode(), event, body)

    told = Webhook(theirs).verify(body, headers)

    assert (told["job_id"], told["result"]) == (17, {"title": "Grüße"})
    later = replace(event, now_seconds=event.now_seconds - 600)
    for forged_body, forged in (
        (body.replace(b"17", b"18"), headers),
        (body, headers | {"webhook-id": "another"}),
        (body, headers | {"webhook-timestamp": str(event.now_seconds + 1)}),
        (body, signed_headers(b"another secret", event, body)),
        (body, signed_headers(ours.encode(), later, body)),
    ):
        with pytest.raises(WebhookVerificationError):
            Webhook(theirs).verify(forged_body, forged)


def test_the_body_is_the_same_at_every_delivery():
    again = replace(EVENT, deliveries=3, now_seconds=99)

    assert body_of(again) == body_of(EVENT)
    assert list(json.loads(body_of(EVENT))) == [
        *("event", "event_id", "job_id", "task", "dedupe_key", "attempt", "happened_at"),
        *("result", "reason", "profile", "account", "proxy"),
    ]
