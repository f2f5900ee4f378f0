"""A job as it may be shown on a screen: without the secrets of its payload, wherever they stand."""

from __future__ import annotations

import json
from typing import Any

from worker.database.client import Row
from worker.evidence.known_secrets import KnownSecrets
from worker.evidence.redaction import redact_json, redact_text

# What tasks, pages and people have said of a job or an attempt.
_TEXTS = ("last_error", "wait_reason", "reason", "last_step", "archive_reason", "label")


def masked(job: Row, history: list[Row]) -> tuple[Row, list[Row]]:
    """Mask a job and its attempts; a result is the task's own data, and loses only known values."""
    known = KnownSecrets.of_payload(job["payload"])
    shown = {
        **_masked_texts(job, known),
        "payload": _masked_payload(job["payload"], known),
        "result": _masked_result(job["result"], known),
    }
    return shown, [_masked_texts(row, known) for row in history]


def _masked_texts(row: Row, known: KnownSecrets) -> Row:
    texts = {
        name: redact_text(row[name], known) for name in _TEXTS if isinstance(row.get(name), str)
    }
    if isinstance(row.get("callback_url"), str):
        texts["callback_url"] = redact_text(row["callback_url"], known)
    return {**row, **texts}


def _masked_payload(text: str | None, known: KnownSecrets) -> str | None:
    if text is None:
        return None
    parsed = _parsed(text)
    # What cannot be read as JSON is masked as a text.
    if parsed is None:
        return redact_text(text, known)
    clean = redact_json(parsed, known)
    return text if clean == parsed else json.dumps(clean, ensure_ascii=False)


def _masked_result(text: str | None, known: KnownSecrets) -> str | None:
    if text is None or not known or known.mask(text) == text:
        return text
    return json.dumps(known.mask_json(_parsed(text)), ensure_ascii=False)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
