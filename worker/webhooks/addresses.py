"""Which addresses a host name has, and which of them a webhook may be sent to.

The caller must connect to the address that was checked: the name may have another one a moment
later.
"""

from __future__ import annotations

import asyncio
import socket

from worker.errors import NightshiftError
from worker.ip_addresses import is_public


class PrivateAddress(NightshiftError):
    """The host has only addresses inside this machine or its network."""


async def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """Return the addresses of a host that webhooks may be sent to.

    Raises OSError if the name is unknown, and PrivateAddress if none of its addresses is public.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    permitted = [text for text in addresses if allow_private or is_public(text)]
    if not permitted:
        raise PrivateAddress(
            f"refused: {host} is a private address ({addresses[0]}); "
            f"NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE=1 allows it"
        )
    return permitted
