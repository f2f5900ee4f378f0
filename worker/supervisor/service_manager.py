"""Tell systemd how the run stands: ready, alive, what it is doing, about to end.

This is the `sd_notify` protocol: short texts to the socket that NOTIFY_SOCKET names. Its variables
are taken out of the environment, so that no child inherits them. What cannot be sent is lost.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, MutableMapping
from contextlib import suppress

from worker.evidence.terminal_text import one_line

# How often the status is told; more often where the watchdog wants that.
STATUS_SECONDS = 10.0
# After the loop a report may be written, which nobody beats for: TimeoutStopSec= is the limit then.
ENDING_SECONDS = 3600.0


class ServiceManager:
    """The service manager of this process; without a socket it is told nothing."""

    def __init__(self, address: str = "", watchdog_seconds: float | None = None) -> None:
        # A leading @ stands for a socket that is in no file system.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._every = min(STATUS_SECONDS, (watchdog_seconds or STATUS_SECONDS * 2) / 2)
        self._has_watchdog = watchdog_seconds is not None
        self._beat_at = 0.0
        self._is_ready = self._is_stopping = False

    @classmethod
    def taken_from(cls, environ: MutableMapping[str, str]) -> ServiceManager:
        """Read where to tell it and how often, and remove both from the environment."""
        address = environ.pop("NOTIFY_SOCKET", "")
        usec = environ.pop("WATCHDOG_USEC", "")
        pid = environ.pop("WATCHDOG_PID", "")
        is_ours = pid in ("", str(os.getpid())) and usec.isdecimal() and int(usec) > 0
        return cls(address, int(usec) / 1_000_000 if is_ours else None)

    def ready(self, status: str) -> None:
        """Say, once, that the run is at work."""
        if not self._is_ready:
            self._is_ready = True
            self._send("READY=1", _status(status))

    def say(self, status: str) -> None:
        """Say what goes on before the run is at work."""
        self._send(_status(status))

    def beat(self, status: Callable[[], str]) -> None:
        """Say that the loop lives and how the run stands, if it is time: half the watchdog's."""
        now = time.monotonic()
        if self._address and now >= self._beat_at:
            self._beat_at = now + self._every
            self._send(*["WATCHDOG=1"] * self._has_watchdog, _status(status()))

    def stopping(self) -> None:
        """Say, once, that the run is ending."""
        if not self._is_stopping:
            self._is_stopping = True
            self._send("STOPPING=1")

    def loop_is_over(self) -> None:
        """Say that nobody beats any more: what is left to do takes as long as it takes."""
        self.stopping()
        if self._has_watchdog:
            self._send(f"WATCHDOG_USEC={ENDING_SECONDS * 1_000_000:.0f}")

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        with (
            suppress(OSError, ValueError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender,
        ):
            sender.sendto("\n".join(lines).encode("utf-8", "replace"), self._address)


def _status(text: str) -> str:
    return f"STATUS={one_line(text)}"
