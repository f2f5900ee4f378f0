"""Which IP addresses belong to the public internet, in every spelling they have.

Whoever connects must use the address that was checked: a name may have another one a moment later.
"""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Prefixes under which an IPv6 address is another spelling of an IPv4 one, in its last 32 bits.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_NOT_PUBLIC = (
    # Translated by the network itself, to whatever it likes.
    ipaddress.ip_network("64:ff9b:1::/48"),
    # For protocols, not for hosts; one cloud has its metadata there. Not every Python knows.
    ipaddress.ip_network("192.0.0.0/24"),
    # Looks public, but is the host of every virtual machine in one cloud, its metadata included.
    ipaddress.ip_network("168.63.129.16/32"),
)


def is_public(text: str) -> bool:
    """Tell whether an address, in any of its spellings, belongs to the public internet.

    Raises ValueError for what is no address.
    """
    address = _meaning(ipaddress.ip_address(text))
    if any(address in network for network in _NOT_PUBLIC):
        return False
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
