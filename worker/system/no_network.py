"""Keep this process from the network for a while, whatever code runs in it meanwhile.

Python itself is asked (an audit hook): sockets go nowhere but to this machine's own files, and no
program is started that could go out by itself. What was refused is told.
"""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_ASKING = frozenset(
    {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind", "socket.getaddrinfo",
     "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"}
)  # fmt: skip
_STARTING = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"}
)


class _Ban:
    """The one hook of this process; it cannot be taken away again, so it knows when it counts."""

    def __init__(self) -> None:
        self.refused: list[str] | None = None
        self._is_installed = False

    def install(self) -> None:
        if not self._is_installed:
            self._is_installed = True
            sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if (refused := self.refused) is None:
            return
        if event in _ASKING:
            if isinstance(arguments[0], socket.socket) and arguments[0].family == socket.AF_UNIX:
                return
            what = f"asks the network ({_address(event, arguments)})"
        elif event in _STARTING:
            what = f"starts a program ({_program(arguments)})"
        else:
            return
        refused.append(what)
        raise OSError(errno.ENETUNREACH, f"{what}: refused while offline")


_BAN = _Ban()


@contextmanager
def without_network() -> Iterator[list[str]]:
    """Refuse the network while the block runs; the list tells what was refused."""
    _BAN.install()
    refused: list[str] = []
    _BAN.refused = refused
    try:
        yield refused
    finally:
        _BAN.refused = None


def _address(event: str, arguments: tuple[Any, ...]) -> str:
    """Name whom somebody wanted to reach, of what Python says of each event."""
    told = arguments[1] if isinstance(arguments[0], socket.socket) else arguments
    parts = told if isinstance(told, tuple) else (told,)
    host = parts[0].decode("utf-8", "replace") if isinstance(parts[0], bytes) else str(parts[0])
    has_port = len(parts) > 1 and isinstance(parts[1], int | str) and event != "socket.getnameinfo"
    return f"{host}:{parts[1]}" if has_port else host


def _program(arguments: tuple[Any, ...]) -> str:
    name = arguments[0] if arguments else "a copy of itself"
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
