"""How a job of a profile ended, and what became of the profile."""

from __future__ import annotations

import json


def title(queue, job_id: int) -> str:
    job = queue.get(job_id)
    assert job["status"] == "done", job
    return str(json.loads(job["result"])["title"])


def events(database, name: str) -> list[str]:
    """List what became of a profile; who asked in vain for it meanwhile is a matter of luck."""
    rows = database.fetch_all("events_of_profile", id=name, limit=100)
    return [row["event"] for row in reversed(rows) if row["decision"] is None]
