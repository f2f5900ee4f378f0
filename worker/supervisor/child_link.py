"""The launcher's end of a helping child: courier or lookout. Starts it when needed, and ends it.

A child that dies is started again, later and later. One that says that its settings are wrong is
not. A child that was stopped (SIGSTOP) is replaced.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from worker.backoff import backoff_seconds
from worker.exit_codes import ExitCode
from worker.supervisor.patient_fork import PatientFork
from worker.supervisor.stopped import StoppedClock

MAX_RESTART_SECONDS = 60.0
MAX_STOPPED_SECONDS = 60.0
EXIT_MISCONFIGURED = ExitCode.CONFIGURATION


class ChildLink:
    """One child after the other; each has a socket that is closed when it is to end."""

    def __init__(
        self, main: Callable[[socket.socket], int], output: int, fork: PatientFork | None = None
    ) -> None:
        self._main = main
        self._output = output
        self._fork = fork or PatientFork()
        self._socket: socket.socket | None = None
        self._deaths = 0
        self._start_at = 0.0
        self._stopped = StoppedClock()
        self.pid = 0

    def start_if_needed(self, is_needed: bool) -> None:
        """Fork a child if it is needed and none runs; pause after a failure."""
        if self._stopped.seconds(self.pid) > MAX_STOPPED_SECONDS:
            os.kill(self.pid, signal.SIGKILL)
        if not is_needed or self.pid or time.monotonic() < self._start_at:
            return
        ours, theirs = socket.socketpair()

        def main() -> int:
            ours.close()
            return self._main(theirs)

        pid = self._fork(main, self._output)
        theirs.close()
        if pid is None:
            ours.close()
            return
        self.pid, self._socket = pid, ours

    def died(self, code: int) -> None:
        """Note that the child's process has ended; without settings there is no other."""
        self.pid = 0
        self._deaths += 1
        wait = backoff_seconds(self._deaths, 1.0, MAX_RESTART_SECONDS)
        self._start_at = float("inf") if code == EXIT_MISCONFIGURED else time.monotonic() + wait
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def stop(self, seconds: float) -> None:
        """Give the child this long to do what is left; then end it."""
        if not self.pid or self._socket is None:
            return
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        deadline = time.monotonic() + seconds
        while not (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
            if time.monotonic() >= deadline:
                os.kill(self.pid, signal.SIGKILL)
                ended = os.waitpid(self.pid, 0)
                break
            time.sleep(0.02)
        self.died(os.waitstatus_to_exitcode(ended[1]))
