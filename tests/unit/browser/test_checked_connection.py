"""Which hosts are private is known before anybody connects to them."""

from __future__ import annotations

import asyncio
import socket

import pytest

from worker.browser.checked_connection import PrivateHost, private_literal, public_addresses


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "::1", "10.0.0.1", "localhost", "a.localhost", "LocalHost."]
)
def test_a_private_host_is_known_without_a_lookup(host):
    assert "--deny-private" in (private_literal(host) or "")


@pytest.mark.parametrize("host", ["8.8.8.8", "[2606:4700:4700::1111]", "shop.example", ""])
def test_others_are_not_taken_for_one(host):
    assert private_literal(host) is None


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "::ffff:127.0.0.1"])
def test_a_spelling_that_only_the_resolver_understands_is_refused_too(host):
    with pytest.raises(PrivateHost):
        asyncio.run(public_addresses(host, 80))


def test_a_host_with_both_kinds_is_reached_by_the_public_one(monkeypatch):
    answers = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80))
        for address in ("10.0.0.1", "8.8.8.8", "192.168.0.1")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)

    assert asyncio.run(public_addresses("both.example", 80)) == ["8.8.8.8"]


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "nobody.invalid"])
def test_what_is_no_name_is_unknown(host):
    with pytest.raises(socket.gaierror):
        asyncio.run(public_addresses(host, 80))
