"""The launcher's end of the heart: starts it, tells it of deaths, starts it again when it dies.

A death is remembered until the heart has answered, so that no heart takes one to its grave. What a
socket does not take at once is kept and sent on: a message arrives whole or not at all.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from worker.supervisor.patient_fork import PatientFork
from worker.supervisor.stopped import StoppedClock

RESTART_SECONDS = 1.0

logger = logging.getLogger("nightshift.heart")


def parse_messages(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Read messages, one a line; one that is broken is logged and passed over."""
    for line in lines:
        try:
            message = json.loads(line)
            message.keys()
        except (ValueError, AttributeError):
            logger.error("a broken message between launcher and heart is passed over: %.80r", line)
        else:
            yield message


class HeartLink:
    """The heart as the launcher sees it."""

    def __init__(
        self,
        make_main: Callable[[socket.socket], Callable[[], int]],
        output: int,
        fork: PatientFork | None = None,
    ) -> None:
        self._make_main = make_main
        self._output = output
        self._fork = fork or PatientFork()
        self._socket: socket.socket | None = None
        self._inbox = b""
        self._outbox = b""
        self._number = 0
        self._unanswered: dict[int, bytes] = {}
        self._started_at = float("-inf")
        self._stopped = StoppedClock()
        self.pid = 0

    def start_if_dead(self) -> None:
        """Fork a heart if none runs, pausing after a failure; repeat each unanswered death."""
        if self.pid or time.monotonic() - self._started_at < RESTART_SECONDS:
            return
        ours, theirs = socket.socketpair()

        def main() -> int:
            ours.close()
            return self._make_main(theirs)()

        pid = self._fork(main, self._output)
        theirs.close()
        if pid is None:
            ours.close()
            return
        ours.setblocking(False)
        self.pid, self._socket, self._started_at = pid, ours, time.monotonic()
        self._inbox, self._outbox = b"", b"".join(self._unanswered.values())
        self.send()

    def died(self) -> None:
        """Note that the heart's process has ended."""
        self.pid = 0
        self._outbox = b""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def kill_if_stopped(self, limit_seconds: float) -> None:
        """End a heart that was stopped: another can still renew the leases in time."""
        if self._stopped.seconds(self.pid) > limit_seconds:
            os.kill(self.pid, signal.SIGKILL)

    def fileno(self) -> int | None:
        """Readable when the heart has said something; None while there is none."""
        return self._socket.fileno() if self._socket is not None else None

    @property
    def has_unsent(self) -> bool:
        """Whether to call `send` when the heart's socket takes more."""
        return self._socket is not None and bool(self._outbox)

    def report_death(self, death: dict[str, Any]) -> None:
        """Have the jobs of a dead incarnation settled, and evidence of its death kept."""
        self._number += 1
        text = json.dumps({"number": self._number, **death}, ensure_ascii=False)
        line = text.encode("utf-8", "replace") + b"\n"
        self._unanswered[self._number] = line
        if self._socket is not None:
            self._outbox += line
            self.send()

    def send(self) -> None:
        """Send what the socket takes now; the rest goes next time."""
        if self._socket is None or not self._outbox:
            return
        try:
            sent = self._socket.send(self._outbox)
        except BlockingIOError:
            return
        except OSError:
            # A heart that cannot listen is dying; the next one is told.
            self._outbox = b""
            return
        self._outbox = self._outbox[sent:]

    def listen(self) -> None:
        """Take the heart's answers."""
        if self._socket is None:
            return
        try:
            data = self._socket.recv(65536)
        except (BlockingIOError, ConnectionError):
            return
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for answer in parse_messages(lines):
            self._unanswered.pop(answer.get("ack", 0), None)

    def unsettled(self) -> list[dict[str, Any]]:
        """List the deaths that no heart has answered for."""
        return list(parse_messages(self._unanswered.values()))

    def stop(self, seconds: float) -> None:
        """Give the heart this long to settle what it was told; then end it."""
        if not self.pid or self._socket is None:
            return
        deadline = time.monotonic() + seconds
        is_told = False
        while time.monotonic() < deadline:
            self.send()
            self.listen()
            if not self._outbox and not is_told:
                self._say_the_end()
                is_told = True
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
            time.sleep(0.02)
        else:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.listen()
        self.died()

    def _say_the_end(self) -> None:
        assert self._socket is not None
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            # It has gone already.
            pass
