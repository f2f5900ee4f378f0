"""Private addresses are known as such in every spelling."""

from __future__ import annotations

import asyncio

import pytest

from worker.webhooks.addresses import PrivateAddress, is_public, resolve

PRIVATE = [
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.9"),
    *("169.254.169.254", "224.0.0.1", "255.255.255.255", "240.0.0.1", "198.18.0.1"),
    *("::1", "::", "fe80::1", "fe80::1%lo", "fc00::1", "fec0::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
]
PUBLIC = ["8.8.8.8", "::ffff:8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_is_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "::1", "::ffff:127.0.0.1"]
)
def test_every_name_of_this_machine_is_refused_unless_allowed(host):
    with pytest.raises(PrivateAddress, match="NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE=1"):
        asyncio.run(resolve(host, 80, allow_private=False))

    assert asyncio.run(resolve(host, 80, allow_private=True))
