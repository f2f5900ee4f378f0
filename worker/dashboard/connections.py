"""The database connections of the pages: few, kept open, each statement bounded and counted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from worker.database.client import Database, DatabaseError
from worker.database.session import Connection
from worker.database_settings import DatabaseSettings

MOST_KEPT = 8
T = TypeVar("T")


class CountingDatabase(Database):
    """A connection that knows how many statements or transactions it has made."""

    statements = 0

    def _attempt(self, operation: Callable[[Connection], T], *, autocommit: bool = True) -> T:
        self.statements += 1
        return super()._attempt(operation, autocommit=autocommit)

    def leave_if_dead(self) -> None:
        """Leave a connection that died while nobody used it: the next statement opens another."""
        try:
            if self._connection is not None:
                # Not by PyMySQL itself: a session is opened with its settings.
                self._connection.ping(reconnect=False)
        except (DatabaseError, OSError):
            self.close()


class Connections:
    """Connections to borrow, one for each request that is being answered."""

    def __init__(self, settings: DatabaseSettings, statement_seconds: float) -> None:
        self._settings = settings
        self._seconds = statement_seconds
        self._free: list[CountingDatabase] = []
        self._lock = threading.Lock()

    def borrow(self) -> CountingDatabase:
        """Give a connection that nobody else has."""
        with self._lock:
            db = self._free.pop() if self._free else None
        if db is None:
            return self._new()
        # The server may have been away since: that must not cost a request.
        db.leave_if_dead()
        return db

    def give_back(self, db: CountingDatabase) -> None:
        """Keep a connection for the next request, or close it when there are enough."""
        db.statements = 0
        with self._lock:
            if len(self._free) < MOST_KEPT:
                self._free.append(db)
                return
        db.close()

    def close(self) -> None:
        """Close all that nobody has borrowed."""
        with self._lock:
            free, self._free = self._free, []
        for db in free:
            db.close()

    def _new(self, **options: Any) -> CountingDatabase:
        # `read_timeout` also bounds the statement on the server, which ends a little sooner.
        return CountingDatabase(self._settings, read_timeout_seconds=self._seconds, **options)
