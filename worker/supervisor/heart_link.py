"""The launcher's end of the heart: starts it, tells it of deaths, starts it again when it dies.

A death is remembered until the heart has answered, so that no heart takes one to its grave.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from worker.supervisor.stopped import StoppedClock
from worker.system.fork import fork

RESTART_SECONDS = 1.0


class HeartLink:
    """The heart as the launcher sees it."""

    def __init__(self, make_main: Callable[[socket.socket], Callable[[], int]], output: int):
        self._make_main = make_main
        self._output = output
        self._socket: socket.socket | None = None
        self._inbox = b""
        self._number = 0
        self._unanswered: dict[int, bytes] = {}
        self._started_at = 0.0
        self._stopped = StoppedClock()
        self.pid = 0

    def start(self) -> None:
        """Fork a heart and tell it again of every death that went unanswered."""
        ours, theirs = socket.socketpair()

        def main() -> int:
            ours.close()
            return self._make_main(theirs)()

        self.pid = fork(main, output=self._output)
        theirs.close()
        ours.setblocking(False)
        self._socket, self._inbox, self._started_at = ours, b"", time.monotonic()
        for line in self._unanswered.values():
            ours.send(line)

    def died(self) -> None:
        """Note that the heart's process has ended."""
        self.pid = 0
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def restart_if_dead(self) -> None:
        """Start it again, but not in a spin."""
        if not self.pid and time.monotonic() - self._started_at > RESTART_SECONDS:
            self.start()

    def kill_if_stopped(self, limit_seconds: float) -> None:
        """End a heart that was stopped: another can still renew the leases in time."""
        if self._stopped.seconds(self.pid) > limit_seconds:
            os.kill(self.pid, signal.SIGKILL)

    def fileno(self) -> int | None:
        """Readable when the heart has said something; None while there is none."""
        return self._socket.fileno() if self._socket is not None else None

    def report_death(self, death: dict[str, Any]) -> None:
        """Have the jobs of a dead incarnation settled, and evidence of its death kept."""
        self._number += 1
        line = json.dumps({"number": self._number, **death}).encode() + b"\n"
        self._unanswered[self._number] = line
        self._send(line)

    def listen(self) -> None:
        """Take the heart's answers."""
        if self._socket is None:
            return
        try:
            data = self._socket.recv(65536)
        except (BlockingIOError, ConnectionError):
            return
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for line in lines:
            answer = json.loads(line)
            self._unanswered.pop(answer["ack"], None)

    @property
    def is_idle(self) -> bool:
        """Whether every death has been settled."""
        return not self._unanswered

    def stop(self, seconds: float) -> None:
        """Let the heart finish what it has to settle, for so long; then end it."""
        if not self.pid or self._socket is None:
            return
        self._socket.setblocking(True)
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
            time.sleep(0.02)
        else:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self._socket.setblocking(False)
        self.listen()
        self.died()

    def _send(self, line: bytes) -> None:
        if self._socket is not None:
            try:
                self._socket.send(line)
            except OSError:
                # A heart that cannot listen is dying; the next one is told.
                pass
