"""The way out of a browser that must not reach private addresses: a SOCKS5 proxy in the worker.

Chromium hands it host names and resolves nothing itself. It serves every connection that a page
makes, WebSockets included, and only TCP: there is no way out for UDP.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
import threading
from collections import OrderedDict

from worker.browser.checked_connection import PrivateHost, Streams, connect

GREETING_SECONDS = 10.0
CHUNK = 65536
MAX_REMEMBERED = 200

_VERSION, _NO_LOGIN, _CONNECT = 5, 0, 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REFUSED, _UNREACHABLE = 2, 4

# What Chromium would have said without a proxy.
_CODES = {
    errno.ECONNREFUSED: "ERR_CONNECTION_REFUSED",
    errno.ECONNRESET: "ERR_CONNECTION_RESET",
    errno.ENETUNREACH: "ERR_ADDRESS_UNREACHABLE",
    errno.EHOSTUNREACH: "ERR_ADDRESS_UNREACHABLE",
}


class GuardingProxy:
    """Listens on loopback as long as its worker's browser may want to go out."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"socks5://127.0.0.1:{self._socket.getsockname()[1]}"
        # By host: why it was refused, or the code of why it could not be reached.
        self.refused: OrderedDict[str, str] = OrderedDict()
        self.failed: OrderedDict[str, str] = OrderedDict()
        self._connections: set[asyncio.Task[None]] = set()
        self._is_closing = False
        # Stopped before that, the loop would leave everything open.
        self._has_begun = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="guarding proxy", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and cut every connection."""
        if self._thread.is_alive():
            self._has_begun.wait()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        listening = asyncio.start_server(self._serve, sock=self._socket)
        try:
            server = self._loop.run_until_complete(listening)
        finally:
            self._has_begun.set()
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._end(server))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _end(self, server: asyncio.Server) -> None:
        """End every connection, those too that are being accepted meanwhile; then the server.

        The other way round, what was accepted last would be left open.
        """
        self._is_closing = True
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for connection in self._connections:
                connection.cancel()
            # Not cancelled themselves: who is interrupted while accepting leaves a socket open.
            await asyncio.wait(others)
        server.close()
        # What was closed is let go in the loop's next rounds.
        for _ in range(3):
            await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        current = asyncio.current_task()
        assert current is not None
        self._connections.add(current)
        try:
            if self._is_closing:
                return
            async with asyncio.timeout(GREETING_SECONDS):
                host, port = await _greet(reader, writer)
            site = await self._reach(host, port, writer)
            if site is not None:
                await _relay((reader, writer), site)
        except (OSError, asyncio.IncompleteReadError, ValueError):
            # The browser has changed its mind, or whoever this is does not speak SOCKS5.
            pass
        except asyncio.CancelledError:
            # Only `close` cancels, and asyncio's streams want no task that ended so.
            pass
        finally:
            self._connections.discard(current)
            writer.close()

    async def _reach(self, host: str, port: int, writer: asyncio.StreamWriter) -> Streams | None:
        try:
            site = await connect(host, port)
        except PrivateHost as refusal:
            _remember(self.refused, host, str(refusal))
            _answer(writer, _REFUSED)
            return None
        except OSError as error:
            _remember(self.failed, host, _code_of(error))
            _answer(writer, _UNREACHABLE)
            return None
        self.failed.pop(host, None)
        _answer(writer, 0)
        return site


async def _greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Take a client's wish: the host and port to connect to; raises ValueError."""
    version, methods = await reader.readexactly(2)
    if version != _VERSION or _NO_LOGIN not in await reader.readexactly(methods):
        raise ValueError("not a client of SOCKS5 without a login")
    writer.write(bytes((_VERSION, _NO_LOGIN)))
    version, command, _, kind = await reader.readexactly(4)
    if version != _VERSION or command != _CONNECT or kind not in (_IPV4, _NAME, _IPV6):
        raise ValueError("only connections are made here")
    if kind == _NAME:
        (length,) = await reader.readexactly(1)
        host = (await reader.readexactly(length)).decode("ascii")
    else:
        family = socket.AF_INET if kind == _IPV4 else socket.AF_INET6
        host = socket.inet_ntop(family, await reader.readexactly(4 if kind == _IPV4 else 16))
    (port,) = struct.unpack("!H", await reader.readexactly(2))
    return host.strip("[]"), port


def _answer(writer: asyncio.StreamWriter, code: int) -> None:
    writer.write(bytes((_VERSION, code, 0, _IPV4)) + bytes(6))


async def _relay(browser: Streams, site: Streams) -> None:
    """Pass bytes on in both directions until both sides have ended."""
    try:
        await asyncio.gather(_pass_on(browser[0], site[1]), _pass_on(site[0], browser[1]))
    finally:
        site[1].close()


async def _pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while chunk := await source.read(CHUNK):
        sink.write(chunk)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()


def _code_of(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "ERR_NAME_NOT_RESOLVED"
    if isinstance(error, TimeoutError):
        return "ERR_CONNECTION_TIMED_OUT"
    return _CODES.get(error.errno or 0, "ERR_CONNECTION_FAILED")


def _remember(notes: OrderedDict[str, str], host: str, text: str) -> None:
    notes[host] = text
    notes.move_to_end(host)
    while len(notes) > MAX_REMEMBERED:
        notes.popitem(last=False)
