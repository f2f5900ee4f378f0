"""Every exit code: of the command line, which `--help` prints as a table, and of workers."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command says to the shell when it ends."""

    meaning: str

    OK = 0, "did what was asked; failed jobs are data, not an exit code"
    UNEXPECTED = 1, "unexpected error, a task that failed in `try`, or a drill that was not clean"
    USAGE = 2, "wrong usage"
    TOO_MANY_FAILED = 10, "more jobs failed than --fail-over allows"
    HELD_BACK = 11, "the run ended, but jobs are held back: the last lines say which and why"
    UNAVAILABLE = 69, "the database or the browser is not available"
    LOCKED = 75, "another run holds the lock (only with --if-locked fail)"
    CONFIGURATION = 78, "wrong configuration or schema"
    INTERRUPTED = 130, "a command other than `run` was interrupted with Ctrl-C"

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member


class WorkerExit(IntEnum):
    """What a worker says to its launcher when it ends by itself."""

    # Nothing is left to do.
    DRAINED = 0
    # It was told to stop; if not by its launcher, the slot is started again.
    STOPPED = 64
    # It has no browser, or no right to the database: the slot is given up after a few tries.
    CANNOT_WORK = 69
    # The machine was short of processes, memory or disk: the slot is started again, with backoff.
    SHORT_OF_SOMETHING = 71
    # The database was in trouble. Its job is handed back, and the slot is started again.
    NO_DATABASE = 75


def table() -> str:
    """Write the table for `--help`, a code a line."""
    return "\n".join(["Exit codes:", *(f"  {code:<4d} {code.meaning}" for code in ExitCode)])
