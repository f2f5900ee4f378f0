"""Writes that may be left undone while the database is away: estimates, hints, notes for people."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from worker.database.client import Database
from worker.errors import DatabaseUnavailable

logger = logging.getLogger("nightshift.database")


@contextmanager
def best_effort(
    db: Database, what: str, *, patience_seconds: float | None = None, level: int = logging.DEBUG
) -> Iterator[None]:
    """Give up on the block when the database stays away, and log `what` was not done."""
    seconds = db.patience_seconds if patience_seconds is None else patience_seconds
    try:
        with db.patience(seconds):
            yield
    except DatabaseUnavailable as error:
        logger.log(level, "%s: %s", what, error)
