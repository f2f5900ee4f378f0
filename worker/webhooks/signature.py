"""What a webhook says and how it is signed: its body, its headers, its HMAC.

Receivers rely on every byte of this; docs/webhooks.md describes it. Every delivery is signed twice:
in our own way, and as Standard Webhooks has it (standardwebhooks.com).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from typing import Any

from worker.webhooks.outbox import Event

SECRET_PREFIX = b"whsec_"
# Told of a batch, not of a job.
BATCH_FINISHED = "batch.finished"


def body_of(event: Event) -> bytes:
    """Write the body of an event; it is the same at every delivery."""
    if event.event == BATCH_FINISHED:
        return _as_bytes(_of_batch(event))
    told = {
        "event": event.event,
        "event_id": event.event_id,
        "job_id": event.job_id,
        "task": event.task,
        "dedupe_key": event.dedupe_key,
        "attempt": event.attempt,
        "happened_at": _happened_at(event),
        "result": event.result,
        "reason": event.reason,
        "profile": event.used_profile,
        "account": event.used_account,
        "proxy": event.used_proxy,
    }
    return _as_bytes(told)


def _of_batch(event: Event) -> dict[str, Any]:
    counts = event.result if isinstance(event.result, dict) else {}
    return {
        "event": event.event,
        "event_id": event.event_id,
        "happened_at": _happened_at(event),
        **counts,
    }


def _happened_at(event: Event) -> str:
    return event.happened_at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _as_bytes(told: dict[str, Any]) -> bytes:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def signed_headers(secret: bytes, event: Event, body: bytes) -> dict[str, str]:
    """Return the headers; the signatures cover the time, so that nobody can replay it later."""
    timestamp = str(event.now_seconds)
    return {
        "Content-Type": "application/json",
        "User-Agent": "Nightshift",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Nightshift-Event-Id": event.event_id,
        "Nightshift-Job-Id": str(event.job_id),
        "Nightshift-Timestamp": timestamp,
        "Nightshift-Signature": f"v1={signature(secret, timestamp, body)}",
        "webhook-id": event.event_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": standard_signature(secret, event.event_id, timestamp, body),
    }


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """Sign a timestamp and a body in our own way."""
    return hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def standard_signature(secret: bytes, event_id: str, timestamp: str, body: bytes) -> str:
    """Sign an id, a timestamp and a body as Standard Webhooks has it."""
    signed = f"{event_id}.{timestamp}.".encode() + body
    digest = hmac.new(standard_key(secret), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode('ascii')}"


def standard_key(secret: bytes) -> bytes:
    """Return the key that a receiver's library uses: a secret `whsec_…` is a key in base64.

    Of any other secret the bytes themselves are the key.
    """
    encoded = secret.removeprefix(SECRET_PREFIX)
    if encoded == secret:
        return secret
    try:
        return base64.b64decode(encoded + b"=" * (-len(encoded) % 4), validate=True)
    except binascii.Error:
        return secret
