"""Which of the driver's errors are tried again, how often and for how long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pymysql
from pymysql.constants.CR import CR_SERVER_LOST

from worker.database import server_errors
from worker.database.server_errors import Trouble
from worker.database_settings import DatabaseSettings
from worker.errors import BadData, NightshiftError

CONFLICT_TRIES = 20
INTERRUPTED_TRIES = 10
MIN_PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 2.0
# What the driver says of NaN and Infinity.
UNSTORABLE = "can not be used with MySQL"
# What the driver refuses to send, without a number: a value or a statement that cannot be.
OUR_MISTAKES = (pymysql.ProgrammingError, pymysql.NotSupportedError, pymysql.DataError)


class Retries:
    """The further tries of one operation, which is repeated whole.

    Conflicts are tried again at once. All else waits until `deadline`, a monotonic time, and while
    `keep_waiting`, asked before every further try, agrees.
    """

    def __init__(
        self,
        deadline: float,
        keep_waiting: Callable[[], bool],
        *,
        waits_for_locks: bool = True,
    ) -> None:
        self._deadline = deadline
        self._keep_waiting = keep_waiting
        self._waits_for_locks = waits_for_locks
        self._conflicts = 0
        self._interruptions = 0
        self._pause = MIN_PAUSE_SECONDS

    def pause_after(self, trouble: Trouble, took_seconds: float = 0.0) -> float | None:
        """Tell how long to wait before the next try; None means that there is none."""
        if trouble is Trouble.FINAL or (trouble is Trouble.LOCKED and not self._waits_for_locks):
            return None
        if trouble in (Trouble.CONFLICT, Trouble.LOCKED) and self._conflicts < CONFLICT_TRIES:
            self._conflicts += 1
            return random.uniform(0.001, 0.02 * self._conflicts)
        if time.monotonic() >= self._deadline or not self._keep_waiting():
            return None
        pause = random.uniform(self._pause / 2, self._pause)
        self._pause = min(self._pause * 2, MAX_PAUSE_SECONDS)
        if trouble is Trouble.INTERRUPTED:
            self._interruptions += 1
            if self._interruptions >= INTERRUPTED_TRIES:
                return None
            # What takes the server long is asked for half of the time at the most.
            return max(pause, took_seconds)
        return pause


def trouble_of(error: Exception) -> Trouble:
    """Say what to do about an error of the driver's or of the network's."""
    if _is_our_mistake(error):
        return Trouble.FINAL
    return server_errors.judge(_code(error), _text(error))


def explanation(error: Exception, settings: DatabaseSettings) -> NightshiftError | None:
    """Turn it into one line for a person; None is our own bug, to be seen whole."""
    if UNSTORABLE in str(error):
        return BadData(f"database {settings} stores no such value: {error}")
    if _is_our_mistake(error):
        return None
    return server_errors.explain(_code(error), _text(error), settings)


def is_timeout(error: BaseException) -> bool:
    """Tell whether the client stopped waiting, while the server may still be at work."""
    return _code(error) == CR_SERVER_LOST and "timed out" in str(error)


def _is_our_mistake(error: Exception) -> bool:
    return _code(error) is None and isinstance(error, OUR_MISTAKES)


def _code(error: BaseException) -> int | None:
    """Return the server's or the driver's number; the driver's 0 is none."""
    first = error.args[0] if error.args else None
    return first or None if isinstance(error, pymysql.Error) and isinstance(first, int) else None


def _text(error: Exception) -> str:
    return str(error.args[1]) if len(error.args) > 1 else str(error)
