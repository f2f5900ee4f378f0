"""Which addresses a host name has, and which of them a webhook may be sent to.

The caller must connect to the address that was checked: the name may have another one a moment
later.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket

from worker.errors import NightshiftError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Prefixes under which an IPv6 address is another spelling of an IPv4 one, in its last 32 bits.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


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


def is_public(text: str) -> bool:
    """Tell whether an address, in any of its spellings, belongs to the public internet."""
    address = _meaning(ipaddress.ip_address(text))
    # Site-local addresses are deprecated and unknown to `is_global`; some networks have them.
    is_site_local = isinstance(address, ipaddress.IPv6Address) and address.is_site_local
    is_special = address.is_multicast or address.is_reserved or is_site_local
    return address.is_global and not is_special


def _meaning(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address contains, if it contains one."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    hidden = address.ipv4_mapped or address.sixtofour
    if hidden is None and (address in _NAT64 or address in _COMPATIBLE):
        hidden = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return hidden or address
