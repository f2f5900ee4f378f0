"""A webhook goes to a public address only, whatever name it has."""

from __future__ import annotations

import asyncio

import pytest

from worker.webhooks.addresses import PrivateAddress, resolve


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "::1", "::ffff:127.0.0.1"]
)
def test_every_name_of_this_machine_is_refused_unless_allowed(host):
    with pytest.raises(PrivateAddress, match="NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE=1"):
        asyncio.run(resolve(host, 80, allow_private=False))

    assert asyncio.run(resolve(host, 80, allow_private=True))
