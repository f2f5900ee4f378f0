"""The stdout and stderr of this process: kept usable, whoever else has a hand on them."""

from __future__ import annotations

import errno
import os
import sys
import termios

STDIN, STDOUT, STDERR = 0, 1, 2


def replace_closed() -> None:
    """Put something in the place of every stream that was closed before this process began.

    The next file or connection would get its number and be written to by mistake. A write to stdout
    fails as it does on a closed one, what is told on stderr is lost, and stdin is empty.
    """
    for fd, way in ((STDIN, os.O_RDONLY), (STDOUT, os.O_RDONLY), (STDERR, os.O_WRONLY)):
        try:
            os.fstat(fd)
        except OSError:
            nowhere = os.open(os.devnull, way)
            os.dup2(nowhere, fd)
            if nowhere != fd:
                os.close(nowhere)
            os.set_inheritable(fd, True)
    for name, fd, mode in (("stdin", STDIN, "r"), ("stdout", STDOUT, "w"), ("stderr", STDERR, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(fd, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


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
