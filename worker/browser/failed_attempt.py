"""A failed attempt, as its evidence tells of it."""

from __future__ import annotations

from dataclasses import dataclass

from worker.models import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What the executor knows about a failed attempt; everything else comes from the session."""

    job_id: int
    attempt: int
    fence: int
    task: str
    payload: JSON
    outcome: str
    exception_type: str
    exception_message: str
    traceback: str
    fingerprint: str
    worker_slot: int
    incarnation: int
    run_id: str
    cause: str | None = None
    # What the attempt really used, by name; `proxy` is an address, without its login.
    profile: str | None = None
    account: str | None = None
    proxy_name: str | None = None
    proxy: str | None = None
    last_step: str | None = None
    # At which the job may be half done.
    irreversible_step: str | None = None
    hang_stack: str | None = None
    # How long the attempt has taken, and the steps it named: [{"at": …, "text": …}].
    seconds: float | None = None
    steps: tuple[dict[str, str], ...] = ()
    # Which database the job is of (`DatabaseSettings.key`): two may share one errors folder.
    database: str | None = None
