"""What Nightshift is compared with on its own server: the limit, and two ways people do it by hand.

The limit does one commit a job and nothing else. The other two have a plain table with the columns
of `work_queue` that everybody would have, and claim, read and finish as they are usually written.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pymysql
from pymysql.cursors import Cursor

from bench.noop import RESULT
from bench.race import Work
from worker.database_settings import DatabaseSettings

# What every connection of Nightshift sets: the limit commits under the same conditions.
SESSION = (
    "SET time_zone = '+00:00', innodb_lock_wait_timeout = 5, "
    "sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)
PLAIN_TABLE = """
CREATE TABLE plain_queue (
  id BIGINT AUTO_INCREMENT PRIMARY KEY, payload TEXT NOT NULL,
  status VARCHAR(20) NOT NULL DEFAULT 'pending', worker_id INT, attempts INT NOT NULL DEFAULT 0,
  last_error TEXT, result TEXT, started_at DATETIME(6), finished_at DATETIME(6),
  KEY by_status (status, id)
) ENGINE=InnoDB
"""
_FINISH_AND_TAKE = (
    "UPDATE work_queue FORCE INDEX (PRIMARY) SET status = IF(id = {0}, 'done', 'in_progress'), "
    "result = IF(id = {0}, '{2}', NULL), "
    "fence = fence + (id <> {0}), attempts = attempts + (id <> {0}), "
    "started_at = IF(id = {0}, started_at, UTC_TIMESTAMP(6)), "
    "finished_at = IF(id = {0}, UTC_TIMESTAMP(6), NULL), "
    "lease_until = IF(id = {0}, NULL, UTC_TIMESTAMP(6) + INTERVAL 180 SECOND) "
    "WHERE id IN ({0}, {1})"
)
_TAKE_OF_SLOT = (
    "UPDATE plain_queue SET status = 'in_progress', worker_id = %s, attempts = attempts + 1, "
    "started_at = UTC_TIMESTAMP(6) WHERE status = 'pending' AND id %% %s = %s ORDER BY id LIMIT 1"
)
_READ_BACK = (
    "SELECT id, payload FROM plain_queue WHERE status = 'in_progress' AND worker_id = %s LIMIT 1"
)
_LOCK_ONE = (
    "SELECT id, payload FROM plain_queue WHERE status = 'pending' ORDER BY id LIMIT 1 "
    "FOR UPDATE SKIP LOCKED"
)
_TAKE = (
    "UPDATE plain_queue SET status = 'in_progress', worker_id = %s, attempts = attempts + 1, "
    "started_at = UTC_TIMESTAMP(6) WHERE id = %s"
)
_FINISH = (
    "UPDATE plain_queue SET status = 'done', result = %s, finished_at = UTC_TIMESTAMP(6) "
    "WHERE id = %s"
)
# A deadlock, and a row that is waited for too long: tried again, as the manual says.
_CONFLICTS = (1205, 1213)


def one_update(settings: DatabaseSettings, ids: range) -> Work:
    """Return what does the least: one two-row UPDATE by primary key a job, one commit."""
    connection = _connect(settings)
    for statement in SESSION:
        connection.query(statement)
    result = json.dumps(RESULT)

    def work() -> None:
        before = 0
        for job_id in ids:
            connection.query(_FINISH_AND_TAKE.format(before, job_id, result))
            before = job_id
        connection.query(_FINISH_AND_TAKE.format(before, 0, result))

    return work


def textbook(settings: DatabaseSettings, slot: int, total: int, jobs: int) -> Work:
    """Return what takes the next job of a slot by one UPDATE, reads it back, and finishes it."""
    connection = _connect(settings)
    cursor = connection.cursor()

    def one() -> None:
        _again(lambda: cursor.execute(_TAKE_OF_SLOT, (slot, total, slot)))
        cursor.execute(_READ_BACK, (slot,))
        job_id, _ = _only(cursor)
        _again(lambda: cursor.execute(_FINISH, (json.dumps(RESULT), job_id)))

    return _repeated(one, jobs)


def skip_locked(settings: DatabaseSettings, slot: int, jobs: int) -> Work:
    """Return what locks the first job that nobody else has, takes it, and finishes it."""
    connection = _connect(settings)
    connection.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
    cursor = connection.cursor()

    def take() -> int:
        connection.begin()
        cursor.execute(_LOCK_ONE)
        job_id, _ = _only(cursor)
        cursor.execute(_TAKE, (slot, job_id))
        connection.commit()
        return int(job_id)

    def one() -> None:
        job_id = _again(take)
        _again(lambda: cursor.execute(_FINISH, (json.dumps(RESULT), job_id)))

    return _repeated(one, jobs)


def _repeated(one: Callable[[], None], times: int) -> Work:
    def work() -> None:
        for _ in range(times):
            one()

    return work


def _only(cursor: Cursor) -> tuple[int, str]:
    row = cursor.fetchone()
    if row is None:
        raise RuntimeError("a worker of the measurement found no job")
    return row[0], row[1]


def _again(statement: Callable[[], int]) -> int:
    while True:
        try:
            return statement()
        except pymysql.OperationalError as error:
            if error.args[0] not in _CONFLICTS:
                raise


def _connect(settings: DatabaseSettings) -> pymysql.Connection[Cursor]:
    return pymysql.connect(
        user=settings.user,
        unix_socket=settings.unix_socket,
        database=settings.database,
        charset="utf8mb4",
        autocommit=True,
    )
