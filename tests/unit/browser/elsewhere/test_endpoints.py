"""Endpoints: what speaks there, whose each slot is, and what of an address is a secret."""

from __future__ import annotations

import pytest

from worker.browser.elsewhere.endpoints import (
    Endpoint,
    Speech,
    expand,
    is_secret,
    order_for,
    secrets_in,
    speech_of,
)


@pytest.mark.parametrize(
    ("address", "speech"),
    [
        ("ws://browsers:3000/", Speech.PLAYWRIGHT),
        ("ws://browsers:3000", Speech.PLAYWRIGHT),
        ("ws://browsers:3000/5f3c9ab1", Speech.PLAYWRIGHT),
        ("wss://host.test/chromium/playwright?token=abc", Speech.PLAYWRIGHT),
        ("http://127.0.0.1:9222", Speech.CDP),
        ("https://host.test/", Speech.CDP),
        ("ws://127.0.0.1:9222/devtools/browser/5a1c", Speech.CDP),
        ("wss://grid.test/session/1/se/cdp", Speech.CDP),
        ("wss://host.test?token=abc", Speech.CDP),
        ("wss://user:word@host.test:9222", Speech.CDP),
    ],
)
def test_an_address_tells_what_is_spoken_there(address, speech):
    assert speech_of(address) == (speech, address)


def test_a_prefix_overrules_the_address():
    assert speech_of("cdp+ws://host.test/") == (Speech.CDP, "ws://host.test/")
    assert speech_of("playwright+http://host.test") == (Speech.PLAYWRIGHT, "http://host.test")


def test_slots_share_the_endpoints_evenly_and_those_of_a_lost_one_do_too():
    endpoints = expand(["ws://a", "ws://b", "ws://c"], range(6))
    orders = [order_for(endpoints, slot) for slot in range(6)]

    assert [order[0] for order in orders] == [0, 1, 2, 0, 1, 2]
    assert all(sorted(order) == [0, 1, 2] for order in orders)


def test_a_slot_has_its_own_endpoint_first_and_then_those_of_others():
    endpoints = expand(["ws://browser-{slot}:3000"], range(2, 5))

    assert [str(endpoint) for endpoint in endpoints] == [
        "ws://browser-2:3000", "ws://browser-3:3000", "ws://browser-4:3000",
    ]  # fmt: skip
    assert [order_for(endpoints, slot)[0] for slot in (2, 3, 4)] == [0, 1, 2]
    assert sorted(order_for(endpoints, 3)) == [0, 1, 2]


def test_the_same_address_twice_is_one_endpoint():
    assert len(expand(["ws://a", "ws://a"], range(2))) == 1


def test_an_endpoint_is_named_without_its_secrets():
    endpoint = Endpoint("cdp+wss://owl:hunter22@host.test:9222/abc?token=s3cr3t-s3cr3t")

    assert f"{endpoint}" == endpoint.label == "wss://host.test:9222/…"
    assert "hunter22" not in repr(endpoint)
    assert "s3cr3t" not in repr(endpoint)
    assert str(Endpoint("broker.py:endpoint")) == "broker.py:endpoint()"


@pytest.mark.parametrize(
    ("address", "secret"),
    [
        ("wss://owl:hunter22@host.test", "hunter22"),
        ("wss://host.test?token=short1", "short1"),
        ("wss://host.test?key=0123456789abcdef0123", "0123456789abcdef0123"),
        ("wss://host.test?whatever=0123456789abcdef0123", "0123456789abcdef0123"),
        ("ws://host.test/4c6f0d9e8b7a4c6f0d9e8b7a", "4c6f0d9e8b7a4c6f0d9e8b7a"),
        ("cdp+wss://host.test?token=short1", "short1"),
    ],
)
def test_what_is_secret_in_an_address_is_known(address, secret):
    assert secret in set(secrets_in(address))
    assert is_secret(address)


@pytest.mark.parametrize(
    "address",
    [
        "ws://browsers:3000/",
        "ws://browser-{slot}.browsers.svc.cluster.local:3000/playwright",
        "wss://host.test?region=us-west-2&timeout=60000&stealth=true",
        "wss://host.test?sessionName={session}",
        "broker.py:endpoint",
        "env:BROWSERS",
    ],
)
def test_plain_words_are_no_secrets(address):
    assert not is_secret(address)
