"""Forking: every child starts with clean signals, dies with its launcher, and never returns.

`call_in_child` does one thing in a child and brings its answer back, so that the launcher itself
never holds a connection and never runs a stranger's code.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from worker.errors import NightshiftError

T = TypeVar("T")

# What the launcher listens for itself, and a child must not.
HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGCHLD)

# The night is long, and what fills the machine's process table now may be gone soon.
FORK_PATIENCE_SECONDS = 300.0
FORK_RETRY_SECONDS = 0.5
POLL_SECONDS = 0.02

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def fork(main: Callable[[], int], *, output: int | None = None) -> int:
    """Run `main` in a child with its own process group; return its pid.

    `output` becomes the child's stdout and stderr, and that of all its descendants. Raises OSError
    when the machine cannot start another process.
    """
    launcher = os.getpid()
    _flush_output()
    # Until the child has reset them, its signals would be taken as the launcher's, and be lost.
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED)
    try:
        pid = os.fork()
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        raise
    if pid:
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        return pid
    code = 1
    try:
        reset_signals()
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        die_with_parent(launcher)
        os.setpgid(0, 0)
        if output is not None:
            os.dup2(output, 1)
            os.dup2(output, 2)
        code = main()
    except BaseException:
        _show_whole()
    finally:
        # Neither the launcher's finalizers nor its buffers are this process's to flush.
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            # A task has closed them; whatever happens, the child must not return as a launcher.
            pass
        finally:
            os._exit(code)


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            # Their terminal is gone; the children have pipes of their own.
            pass


def reset_signals() -> None:
    """Undo in a forked child what the launcher has set up for itself."""
    signal.set_wakeup_fd(-1)
    for number in HANDLED:
        signal.signal(number, signal.SIG_DFL)
    # Ctrl-C goes to the launcher, which tells its children in its own words.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def die_with_parent(parent: int) -> None:
    """Ask the kernel for SIGKILL when the launcher dies, however it dies."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of every orphaned descendant, so that none is left unreaped."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def call_in_child(function: Callable[..., T], *args: Any) -> T:
    """Call a function in a child and return what it returned, or raise what it raised."""
    reader, writer = os.pipe2(os.O_CLOEXEC)

    def main() -> int:
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(_answer(function, args), pipe)
        return 0

    try:
        pid = _fork_patiently(main)
    except OSError as error:
        os.close(reader)
        os.close(writer)
        raise NightshiftError(f"cannot start a process ({error.strerror})") from error
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    if not data:
        code = os.waitstatus_to_exitcode(status)
        raise NightshiftError(f"a helper process of the launcher died (exit code {code})")
    failed, value = pickle.loads(data)
    if failed:
        raise value
    answer: T = value
    return answer


def wait_for(pid: int, seconds: float) -> int | None:
    """Wait for a child; kill it when the time is over. Return its exit code, None without one."""
    deadline = time.monotonic() + seconds
    with suppress(ChildProcessError, ProcessLookupError):
        while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
            if time.monotonic() >= deadline:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return None
            time.sleep(POLL_SECONDS)
        return os.waitstatus_to_exitcode(ended[1])
    return None


def _fork_patiently(main: Callable[[], int]) -> int:
    """Fork as soon as the machine can; raises OSError when it cannot for minutes."""
    deadline = time.monotonic() + FORK_PATIENCE_SECONDS
    while True:
        try:
            return fork(main)
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(FORK_RETRY_SECONDS)


def _answer(function: Callable[..., T], args: tuple[Any, ...]) -> tuple[bool, Any]:
    try:
        return False, function(*args)
    except NightshiftError as error:
        copy = NightshiftError(str(error))
        copy.exit_code = error.exit_code
        return True, copy
    except Exception as error:
        _show_whole()
        return True, RuntimeError(f"{type(error).__name__}: {error}")


def _show_whole() -> None:
    """Show a bug of ours as this program shows them: a command line does so without secrets."""
    sys.excepthook(*sys.exc_info())


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
