"""Locks by name between processes: one of the server's own, or in a cluster a row with a lease.

A server's lock ends with its connection, but holds on that member alone. A row holds on all of
them, until it is given back, its lease is over, or its holder is known to be dead.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from typing import Any

from worker.database.client import Database, Row
from worker.system.identity import boot_id, pid_namespace, start_ticks, this_host
from worker.system.process_tree import ProcessId, is_alive


@dataclass(frozen=True, slots=True)
class Lock:
    """One process's hold, or wish for one; every process that holds for it has the same token."""

    kind: str
    name: str = ""
    lease_seconds: float = 60.0
    pid: int = field(default_factory=os.getpid)
    token: str = field(default_factory=lambda: secrets.token_hex(16))

    def take(self, db: Database, wait_seconds: float = 0.0) -> bool:
        """Take the lock, or take it again; False when another has it.

        A row is not waited for: ask again.
        """
        if db.is_cluster:
            return self.take_row(db)
        row = db.fetch_one("take_server_lock", **self._key, wait_seconds=wait_seconds)
        return row is not None and row["locked"] == 1

    def renew(self, db: Database) -> bool:
        """Hold a row for longer, False if it is lost; a server's lock lasts by itself."""
        return self.take_row(db) if db.is_cluster else True

    def release(self, db: Database) -> None:
        """Let others have the lock; of a lock that is lost nothing is written."""
        if db.is_cluster:
            self.release_row(db)
        else:
            db.fetch_all("release_server_lock", **self._key)

    def take_row(self, db: Database) -> bool:
        """Take the lock as a row, which counts on all members of a cluster."""
        wanted = self._row
        if db.execute("take_row_lock", **wanted, dead_token=self.token) == 1:
            return True
        held = db.fetch_one("read_row_lock", name=self._row_name)
        if held is None:
            return db.execute("add_row_lock", **wanted) == 1
        if not _is_dead(held):
            return False
        return db.execute("take_row_lock", **wanted, dead_token=held["token"]) == 1

    def release_row(self, db: Database) -> None:
        """Let others have the row."""
        db.execute("release_row_lock", name=self._row_name, token=self.token)

    def holder(self, db: Database) -> str:
        """Say who has it, as far as a row tells."""
        held = db.fetch_one("read_row_lock", name=self._row_name) if db.is_cluster else None
        if held is None:
            return "another process"
        return f"{held['owner']} (its hold lasts for another {held['left_seconds']} s)"

    @property
    def _key(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": f":{self.name}" if self.name else ""}

    @property
    def _row_name(self) -> str:
        return f"{self.kind}:{self.name}"[:191]

    @property
    def _row(self) -> dict[str, Any]:
        return {
            "name": self._row_name,
            "token": self.token,
            "owner": f"process {self.pid} on {this_host().name}"[:255],
            "boot_id": boot_id(),
            "pid_namespace": pid_namespace(),
            "pid": self.pid,
            "pid_started": start_ticks(self.pid),
            "lease_seconds": self.lease_seconds,
        }


def prepare(db: Database) -> None:
    """Have the table of locks, before there is a schema, where it is needed."""
    if db.is_cluster:
        db.execute("create_named_locks")


def _is_dead(held: Row) -> bool:
    """Whether a holder is certainly dead: one of this boot and these pids that is gone."""
    if held["boot_id"] != boot_id() or held["pid_namespace"] != pid_namespace():
        return False
    try:
        os.kill(held["pid"], 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        # Another user's: /proc may hide it.
        return False
    return not is_alive(ProcessId(held["pid"], held["pid_started"]))
