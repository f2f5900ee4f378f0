"""Connect to a host by an address that was checked: private ones are refused, by whatever name.

The address that is checked is the one that is connected to, so a name that changes its address in
between (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket

from worker.errors import NightshiftError
from worker.ip_addresses import is_public

CONNECT_SECONDS = 20.0
MAX_ADDRESSES = 3

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class PrivateHost(NightshiftError):
    """A page wanted to reach a host whose addresses are all private."""


async def connect(host: str, port: int) -> Streams:
    """Connect to a host's first public address that answers.

    Raises PrivateHost when it has none, and OSError when it is unknown or cannot be reached.
    """
    problem: OSError = OSError(errno.EHOSTUNREACH, "no address")
    for address in (await public_addresses(host, port))[:MAX_ADDRESSES]:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.open_connection(address, port)
        except OSError as error:
            problem = error
    raise problem


async def public_addresses(host: str, port: int) -> list[str]:
    """Look a host up and return its public addresses; raises as `connect` does."""
    if (reason := private_literal(host)) is not None:
        raise PrivateHost(reason)
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise socket.gaierror(socket.EAI_NONAME, "not a host name") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    public = [text for text in addresses if is_public(text)]
    if not public:
        raise PrivateHost(describe(host, addresses[0]))
    return public


def private_literal(host: str) -> str | None:
    """Say that a host, as a URL has it, is a private address or this machine; None if not so.

    Names are not looked up. Browsers write every spelling of an IPv4 address in the usual one.
    """
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return describe(name, "this machine")
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return None
    return None if is_public(name) else describe(name, name)


def describe(host: str, address: str) -> str:
    """Say why a host is refused."""
    where = f"{host} is private" if address == host else f"{host} is private ({address})"
    return f"{where}, and --deny-private keeps pages from private addresses"
