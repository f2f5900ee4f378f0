"""Whether a profile's state and host let it be used: judged from its row alone, for `readiness`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from worker.database.client import Database, Row
from worker.guards.keys import ClosedKey
from worker.profiles import hosts, stop_tries
from worker.profiles.states import LEASABLE, State
from worker.system.identity import this_host

# A stale profile is free as soon as it is checked.
STALE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class NotReady:
    """Why a profile cannot be used now, and when to check again (None: after a person acts)."""

    event: str
    reason: str
    closes: str
    seconds: float | None = None
    owner: str | None = None

    @property
    def closed_key(self) -> ClosedKey:
        said = f"{self.reason} ({self.owner})" if self.owner else self.reason
        return ClosedKey(self.closes, said, self.seconds)


def set_aside(profile: Row) -> NotReady | None:
    """Judge a profile by its state; only a stale one of this host is in order by itself soon."""
    state = State(profile["state"])
    if state in LEASABLE:
        return None
    seconds = None
    if state is State.STALE and hosts.is_here(profile):
        seconds = _check_seconds(int(profile["stop_tries"]))
    name = profile["id"]
    reason = f"profile {name} is {state.replace('_', ' ')}: {profile['state_reason'] or ''}".strip()
    return NotReady(f"profile_{state}", reason, f"profile:{name}", seconds)


def elsewhere(profile: Row) -> NotReady | None:
    """Leave the jobs of a profile to the host that it lives on, however long that takes."""
    reason = hosts.elsewhere(profile)
    return NotReady("profile_elsewhere", reason, f"profile:{profile['id']}") if reason else None


def all_elsewhere(db: Database) -> Iterator[tuple[Row, NotReady]]:
    """List the free profiles that live on other hosts."""
    here = this_host()
    for profile in db.fetch_all("profiles_elsewhere", host=here.name, host_id=here.id):
        if refusal := elsewhere(profile):
            yield profile, refusal


def _check_seconds(tries: int) -> float | None:
    """Say when a stale profile is checked again; None when that has failed too often to wait."""
    if tries >= stop_tries.PATIENT_TRIES:
        return None
    return stop_tries.wait_seconds(tries) if tries else STALE_SECONDS
