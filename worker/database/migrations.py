"""The schema: numbered, checksummed, forward-only files in `sql/migrations/`.

MySQL commits DDL implicitly, so each statement is a step recorded on its own: a migration that was
cut off goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from worker.database import locks
from worker.database.client import Database
from worker.database.locks import Lock
from worker.errors import AlreadyThere, DuplicateKey, SchemaMismatch
from worker.installation import own_files

MIGRATIONS_DIR = own_files() / "sql" / "migrations"
LOCK_SECONDS = 30.0
POLL_SECONDS = 0.2
# In a cluster, how long a step may take before another process may go on with the rest.
LEASE_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of one migration."""

    version: int
    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def steps(folder: Path = MIGRATIONS_DIR) -> list[Step]:
    """Read all steps in order."""
    found = []
    for path in sorted(folder.glob("[0-9]*.sql")):
        version = int(path.stem.partition("_")[0])
        text = re.sub(r"^--.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        statements = [part.strip() for part in re.split(r";\s*$", text, flags=re.MULTILINE)]
        for number, sql in enumerate(filter(None, statements), 1):
            found.append(Step(version, number, path.stem, sql))
    return found


def ensure(db: Database) -> list[str]:
    """Give an empty database its schema; refuse one that is older, newer or foreign."""
    applied = _applied(db)
    if applied is not None and not _check(applied):
        return []
    # Another process may be giving it its schema at this moment: look again when it has.
    with _locked(db) as lock:
        applied = _applied(db)
        if applied is None and db.fetch_one("table_exists", table="work_queue"):
            raise SchemaMismatch(
                f"{db.settings} holds a table work_queue that Nightshift did not make; "
                f"use another database, or rename the table"
            )
        if not applied:
            return _apply_missing(db, lock)
        if missing := _check(applied):
            raise SchemaMismatch(
                f"the schema of {db.settings} is older than this Nightshift "
                f"(it lacks {missing[0].name}); run: python launcher.py migrate"
            )
        return []


def pending(db: Database) -> list[str]:
    """Name the migrations that `migrate` would apply."""
    return _names(_check(_applied(db) or {}))


def migrate(db: Database) -> list[str]:
    """Apply what is missing, one process at a time; return the names of what was applied."""
    with _locked(db) as lock:
        return _apply_missing(db, lock)


@contextmanager
def _locked(db: Database) -> Iterator[Lock]:
    lock = Lock("migrate", lease_seconds=LEASE_SECONDS)
    locks.prepare(db)
    deadline = time.monotonic() + LOCK_SECONDS
    # Asked again and again, so that no read is a long one.
    while not lock.take(db, wait_seconds=1.0):
        if time.monotonic() > deadline:
            raise SchemaMismatch(
                f"{lock.holder(db)} is migrating this database; try again when it ends"
            )
        if db.is_cluster:
            time.sleep(POLL_SECONDS)
    try:
        yield lock
    finally:
        lock.release(db)


def _apply_missing(db: Database, lock: Lock) -> list[str]:
    db.execute("create_schema_migrations")
    missing = _check(_applied(db) or {})
    # Undone halfway, a change of a large table would never come to its end.
    db.lift_statement_limit()
    for step in missing:
        # The step before may have taken long.
        if not lock.renew(db):
            raise SchemaMismatch(
                f"{lock.holder(db)} has begun to migrate this database meanwhile; "
                f"try again when it ends"
            )
        _apply(db, step)
    return _names(missing)


def _apply(db: Database, step: Step) -> None:
    try:
        db.run_statement(step.sql)
    except AlreadyThere:
        # It was cut off between the change and the record of it.
        pass
    try:
        db.execute(
            "record_migration",
            version=step.version,
            step=step.number,
            name=step.name,
            checksum=step.checksum,
        )
    except DuplicateKey:
        # Another member of the cluster has recorded the same step; `_check` compares them.
        pass


def _applied(db: Database) -> dict[tuple[int, int], str] | None:
    if not db.fetch_one("table_exists", table="schema_migrations"):
        return None
    rows = db.fetch_all("applied_migrations")
    return {(row["version"], row["step"]): row["checksum"] for row in rows}


def _check(applied: dict[tuple[int, int], str]) -> list[Step]:
    """Return the steps still to do; refuse a schema that this code cannot have made."""
    known = {(step.version, step.number): step for step in steps()}
    for key, checksum in applied.items():
        if key not in known:
            raise SchemaMismatch(
                f"the schema has migration {key[0]:04d}, which this Nightshift does not know: "
                f"the database is newer than the code; update the code"
            )
        if known[key].checksum != checksum:
            raise SchemaMismatch(
                f"migration {known[key].name} was changed after it had been applied; "
                f"restore the file and put the change into a new migration"
            )
    return [step for key, step in known.items() if key not in applied]


def _names(missing: list[Step]) -> list[str]:
    return list(dict.fromkeys(step.name for step in missing))
