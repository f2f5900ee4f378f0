"""The W3C `traceparent` that a producer may leave in a job's payload, beside its own fields.

It is a payload's field and no column, so that plain SQL can store it and jobs without one cost
nothing. One that is malformed is passed over, as the standard wants it.
"""

from __future__ import annotations

import re
from typing import Any

from worker import json_text

FIELD = "traceparent"
_WELL_FORMED = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)


def is_well_formed(text: Any) -> bool:
    """Tell whether this is a traceparent, such as `00-<32 hex digits>-<16 hex digits>-01`."""
    return isinstance(text, str) and _WELL_FORMED.fullmatch(text) is not None


def of_payload(payload: str) -> str | None:
    """Return the traceparent in a payload's text, if there is a good one."""
    if f'"{FIELD}"' not in payload:
        return None
    try:
        parsed = json_text.parse(payload)
    except ValueError:
        return None
    found = parsed.get(FIELD) if isinstance(parsed, dict) else None
    return found if is_well_formed(found) else None
