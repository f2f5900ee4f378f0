"""Which network address a name stands for, and whether a stranger may have us connect to it.

Who connects must connect to the address that was checked: a name may change its mind in between.
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
    """The name stands for an address inside this machine or its network."""


async def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """Return the addresses of a host that may be connected to.

    Raises OSError when the name is unknown, PrivateAddress when no address of it is public.
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
    """Tell whether an address belongs to the open internet, also in its other spellings."""
    address = _meaning(ipaddress.ip_address(text))
    # Site-local addresses are deprecated and unknown to `is_global`; some networks have them.
    is_site_local = isinstance(address, ipaddress.IPv6Address) and address.is_site_local
    is_special = address.is_multicast or address.is_reserved or is_site_local
    return address.is_global and not is_special


def _meaning(address: Address) -> Address:
    """Return the IPv4 address that hides in an IPv6 one, if one does."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    hidden = address.ipv4_mapped or address.sixtofour
    if hidden is None and (address in _NAT64 or address in _COMPATIBLE):
        hidden = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return hidden or address
