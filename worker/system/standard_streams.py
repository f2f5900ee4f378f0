"""The stdout and stderr of this process: kept usable, whoever else has a hand on them."""

from __future__ import annotations

import errno
import os
import termios

STDOUT, STDERR = 1, 2


def make_blocking() -> None:
    """Make stdout and stderr blocking again, lest a long print raise BlockingIOError.

    The setting belongs to the pipe, not to the process: any program that was started with it,
    Node for one, may have changed it for everybody.
    """
    for fd in (STDOUT, STDERR):
        try:
            os.set_blocking(fd, True)
        except OSError:
            # A task has closed it.
            pass


def leave_closed_terminal() -> None:
    """Turn stdout and stderr to nothing where their terminal is gone: a write would raise."""
    for fd in (STDOUT, STDERR):
        try:
            termios.tcgetattr(fd)
        except termios.error as error:
            if error.args[0] == errno.EIO:
                silence(fd)


def silence(fd: int) -> None:
    """Send what is written there to nowhere from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(nowhere, fd)
    os.close(nowhere)
