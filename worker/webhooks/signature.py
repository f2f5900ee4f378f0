"""What a webhook says and how it is signed: its body, its headers, its HMAC.

Receivers rely on every byte of this; docs/webhooks.md describes it.
"""

from __future__ import annotations

import hashlib
import hmac
import json

from worker.webhooks.outbox import Event


def body_of(event: Event) -> bytes:
    """Write the body of an event; it is the same at every delivery."""
    told = {
        "event": event.event,
        "event_id": event.event_id,
        "job_id": event.job_id,
        "task": event.task,
        "dedupe_key": event.dedupe_key,
        "attempt": event.attempt,
        "happened_at": event.happened_at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "result": event.result,
        "reason": event.reason,
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def signed_headers(secret: bytes, event: Event, body: bytes) -> dict[str, str]:
    """Return the headers; the signature covers the time, so that nobody can replay it later."""
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
    }


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """Sign a timestamp and a body."""
    return hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
