"""Which names may be asked for, and what is this machine only."""

from __future__ import annotations

import pytest

from worker.dashboard.config import allowed_hosts, is_loopback
from worker.errors import SettingsError


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.3.4.5"])
def test_these_are_this_machine_only(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "night-1", "10.0.0.1"])
def test_others_can_reach_these(host):
    assert not is_loopback(host)


def test_an_address_that_listens_everywhere_needs_a_name():
    with pytest.raises(SettingsError, match="--allow-host"):
        allowed_hosts("0.0.0.0", ())
    assert "night-1" in allowed_hosts("0.0.0.0", ("night-1",))


def test_a_single_address_is_its_own_name():
    assert allowed_hosts("192.168.1.4", ())[0] == "192.168.1.4"
    assert allowed_hosts("fe80::1", ())[0] == "[fe80::1]"
