"""An event and the secret that it is signed with."""

from __future__ import annotations

from datetime import UTC, datetime

from worker.webhooks.outbox import Event

SECRET = "correct horse battery staple"
EVENT = Event(
    id=1,
    event_id="7d0c9a52-1111-2222-3333-444455556666",
    event="job.done",
    job_id=17,
    attempt=2,
    task="visit",
    dedupe_key=None,
    result={"title": "Grüße"},
    reason=None,
    happened_at=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
    url="http://127.0.0.1/",
)
