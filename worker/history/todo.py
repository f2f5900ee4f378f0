"""Everything that waits for a person: why, since when, how many jobs hang on it, and what to do.

It only reads. Of a long queue only the head is looked at: then numbers of jobs are lower bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from worker.database.client import Database, Row
from worker.history import blocked_orders
from worker.installation import command_line
from worker.profiles import doors
from worker.profiles.hanging_jobs import LOOK_AT
from worker.profiles.stop_tries import PATIENT_TRIES
from worker.proxies.choice import REFUSES_LOGIN
from worker.queue import pause
from worker.queue.claims import Queue
from worker.queue.settlements import half_done_at
from worker.reasons import kept

# In these states a profile is used, or will be without anybody's doing.
IN_USE = ("available", "leased", "stale")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a person has to do."""

    kind: str
    name: str
    reason: str
    since: datetime | None
    jobs: int
    command: str


@dataclass(frozen=True, slots=True)
class Todo:
    """All of it; `is_lower_bound` when not all pending jobs were looked at."""

    items: list[Item] = field(default_factory=list)
    is_lower_bound: bool = False


def everything(db: Database, pending: int | None = None) -> Todo:
    """List what waits for a person: what may be half done first, then the rest by age.

    `pending` says how many jobs are, where somebody has just counted them.
    """
    if pending is None:
        pending = Queue(db).unfinished()["pending"]
    rest = list(_others(db, pending))
    rest.sort(key=lambda item: (item.since is None, item.since))
    return Todo([*_half_done(db), *rest], is_lower_bound=pending > LOOK_AT)


def _half_done(db: Database) -> Iterator[Item]:
    for row in db.fetch_all("half_done_groups"):
        jobs, group = int(row["jobs"]), row["fingerprint"]
        command = command_line("show", row["first_id"])
        name = f"job {row['first_id']}"
        if jobs > 1:
            # Jobs that somebody has ended in plain SQL are in no group.
            name, command = f"{jobs:,} jobs", command_line("errors", *[group] * bool(group))
        reason = f"task {row['task']}: {half_done_at(row['step'])}"
        yield Item("half done", name, reason, row["since"], jobs, command)


def _others(db: Database, pending: int) -> Iterator[Item]:
    if (asked := pause.paused(db)) is not None:
        reason = f"all runs are paused by {asked['set_by']}: {asked['reason']}"
        yield Item("pause", "all runs", reason, asked["set_at"], pending, "launcher.py resume")
    hanging = _Hanging(db)
    for row in db.fetch_all("profiles_set_aside"):
        jobs = hanging.on_profile(row["id"])
        # A profile that is out of use for good is nobody's business, unless jobs want it.
        if row["state"] != "disabled" or jobs:
            reason = f"{row['state'].replace('_', ' ')}: {kept(row['state_reason'])}"
            command = f"{command_line('profiles', 'clear', row['id'])} --reason …"
            yield Item("profile", row["id"], reason, row["state_since"], jobs, command)
    for row in db.fetch_all("profiles_that_may_run", tries=PATIENT_TRIES):
        name, command = row["id"], f"{command_line('profiles', 'clear', row['id'])} --reason …"
        reason = f"stale after {row['stop_tries']} tries: {kept(row['state_reason'])}"
        jobs = hanging.on_profile(name)
        yield Item("profile", name, reason, row["state_since"], jobs, command)
    for row in db.fetch_all("overdue_checkouts"):
        name = row["profile_id"]
        reason = f"checked out by {row['holder']}, and overdue: it stays theirs"
        command = command_line("profiles", "return", name)
        jobs = hanging.on_profile(name)
        yield Item("checkout", name, reason, row["expires_at"], jobs, command)
    for row in db.fetch_all("accounts_paused_by_hand"):
        reason = f"paused by {row['paused_by'] or 'somebody'}: {kept(row['paused_reason'])}"
        command = command_line("accounts", "resume", row["id"])
        jobs = hanging.on_account(row["id"])
        yield Item("account", row["id"], reason, row["paused_at"], jobs, command)
    yield from _of_orders(db)
    yield from _of_the_way_out(db, hanging)


def _of_orders(db: Database) -> Iterator[Item]:
    for order in blocked_orders.find(db):
        job, command = f"job {order.job_id}", command_line("retry", "--id", order.job_id)
        reason = f"{job} failed and the jobs behind it wait: {kept(order.reason)}"
        if order.irreversible_step is not None:
            # Its reason says that it may be half done; what to do then, `show` says.
            command = command_line("show", order.job_id)
        yield Item("order", order.name, reason, order.since, order.jobs, command)


def _of_the_way_out(db: Database, hanging: _Hanging) -> Iterator[Item]:
    for row in db.fetch_all("proxies_out_of_use", refuses=REFUSES_LOGIN):
        name, jobs = row["name"], hanging.on_proxy(row["name"])
        if row["reason"] is None:
            reason, command = "profiles name it, and it is not there", "add"
        elif row["is_enabled"]:
            reason, command = REFUSES_LOGIN, "set"
        else:
            reason, command = f"disabled: {row['reason']}", "enable"
        yield Item("proxy", name, reason, None, jobs, command_line("proxies", command, name))
    for name in doors.unchosen(db):
        reason = "it says neither which proxy it uses nor that it goes out directly"
        command = f"{command_line('profiles', 'set', name)} --proxy …"
        yield Item("profile", name, reason, None, hanging.on_profile(name), command)
    for row in db.fetch_all("breakers_held_open"):
        reason = f"held open by {row['held_by'] or 'somebody'}: {kept(row['reason'])}"
        command = command_line("breakers", "close", row["name"])
        jobs = hanging.on_breaker(row["name"])
        yield Item("breaker", row["name"], reason, row["opened_at"], jobs, command)


class _Hanging:
    """How many pending jobs hang on a profile, an account, a proxy or a site."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._profiles = {row["id"]: row for row in db.fetch_all("places_of_profiles")}
        self._pending: list[Row] | None = None

    def on_profile(self, profile_id: str) -> int:
        """Count the jobs that name it, and those of its account if no other profile is in use."""
        account = self._profiles[profile_id]["account_id"]
        has_other = any(
            row["state"] in IN_USE and row["id"] != profile_id for row in self._of_account(account)
        )
        return sum(
            int(row["jobs"])
            for row in self._by_place()
            if row["profile"] == profile_id
            or (row["profile"] is None and row["account"] == account and not has_other)
        )

    def on_account(self, account: str) -> int:
        own = {row["id"] for row in self._of_account(account)}
        return sum(
            int(row["jobs"])
            for row in self._by_place()
            if row["account"] == account or row["profile"] in own
        )

    def on_proxy(self, proxy: str) -> int:
        own = {row["id"] for row in self._profiles.values() if row["proxy"] == proxy}
        return sum(int(row["jobs"]) for row in self._by_place() if row["profile"] in own)

    def on_breaker(self, key: str) -> int:
        kind, _, value = key.partition(":")
        if kind == "profile":
            return self.on_profile(value) if value in self._profiles else 0
        return int(self._db.fetch_all("pending_jobs_of_site", site=value, limit=LOOK_AT)[0]["jobs"])

    def _of_account(self, account: str | None) -> list[Row]:
        rows = self._profiles.values()
        return [row for row in rows if account is not None and row["account_id"] == account]

    def _by_place(self) -> list[Row]:
        if self._pending is None:
            self._pending = self._db.fetch_all("pending_jobs_by_place", limit=LOOK_AT)
        return self._pending
