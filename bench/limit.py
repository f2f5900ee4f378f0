"""The limit: what a job costs if nothing but two bare primary-key UPDATEs is done for it."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pymysql

from bench.noop import RESULT
from bench.race import Work
from worker.database_settings import DatabaseSettings

# What every connection of Nightshift sets: the limit commits under the same conditions.
SESSION = (
    "SET time_zone = '+00:00', innodb_lock_wait_timeout = 5, "
    "sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)
_CLAIM = (
    "UPDATE work_queue SET status = 'in_progress', fence = fence + 1, attempts = attempts + 1, "
    "started_at = UTC_TIMESTAMP(6), lease_until = UTC_TIMESTAMP(6) + INTERVAL 180 SECOND "
    "WHERE id = %s AND status = 'pending'"
)
_FINISH = (
    "UPDATE work_queue SET status = 'done', finished_at = UTC_TIMESTAMP(6), lease_until = NULL, "
    "result = %s WHERE id = %s AND fence = %s"
)


def bare_worker(settings: DatabaseSettings, ids: Iterable[int]) -> Work:
    """Connect; return what claims and finishes these jobs."""
    connection = pymysql.connect(
        user=settings.user,
        unix_socket=settings.unix_socket,
        database=settings.database,
        charset="utf8mb4",
        autocommit=True,
    )
    cursor = connection.cursor()
    for statement in SESSION:
        cursor.execute(statement)
    result = json.dumps(RESULT)

    def work() -> None:
        for job_id in ids:
            cursor.execute(_CLAIM, (job_id,))
            cursor.execute(_FINISH, (result, job_id, 1))

    return work
