"""Private addresses are known as such in every spelling."""

from __future__ import annotations

import pytest

from worker.ip_addresses import is_public

PRIVATE = [
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.9"),
    *("169.254.169.254", "224.0.0.1", "255.255.255.255", "240.0.0.1", "198.18.0.1"),
    # What clouds tell their machines, passwords among it, in the one way or the other.
    *("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"),
    *("::1", "::", "fe80::1", "fe80::1%lo", "fc00::1", "fec0::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
    *("::ffff:168.63.129.16", "::ffff:0:127.0.0.1", "64:ff9b:1::a00:1", "2001:0:7f00:1::"),
]
PUBLIC = ["8.8.8.8", "::ffff:8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_is_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is(address):
    assert is_public(address)


@pytest.mark.parametrize("text", ["localhost", "127.1", "0x7f000001", "", "1.2.3.4:80"])
def test_what_is_no_address_is_not_guessed_at(text):
    with pytest.raises(ValueError, match="does not appear to be"):
        is_public(text)
