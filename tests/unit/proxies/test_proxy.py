"""A proxy is read from a URL, refuses what cannot work, and shows its password to nobody."""

from __future__ import annotations

import pytest

from worker.errors import UsageError
from worker.proxies.proxy import Proxy


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h.test:3128", Proxy("http", "h.test", 3128)),
        ("HTTP://H.Test:3128/", Proxy("http", "h.test", 3128)),
        ("http://h.test", Proxy("http", "h.test", 80)),
        ("https://h.test", Proxy("https", "h.test", 443)),
        ("socks5://h.test", Proxy("socks5", "h.test", 1080)),
        ("http://me:pw@h.test:1", Proxy("http", "h.test", 1, "me", "pw")),
        ("http://me@h.test:1", Proxy("http", "h.test", 1, "me")),
        ("http://m%40e:p%3Aw%2F%25@h.test:1", Proxy("http", "h.test", 1, "m@e", "p:w/%")),
        ("http://me:p@ss:word@h.test:1", Proxy("http", "h.test", 1, "me", "p@ss:word")),
        ("http://me:pw@[2001:db8::1]:8080", Proxy("http", "2001:db8::1", 8080, "me", "pw")),
        (" http://h.test:1\n", Proxy("http", "h.test", 1)),
    ],
)
def test_a_url_is_read(url, expected):
    assert Proxy.parse(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "", "h.test:80", "ftp://me:sesame@h.test", "http://", "http://me:sesame@", "socks4://h:1",
        "http://me:sesame@h.test:0", "http://me:sesame@h.test:70000", "http://me:sesame@h.test:x",
        "http://h.test:sesame", "http://me:sesame@[::1", "http://me:sesame@h t:1",
        "socks5://me:sesame@h.test:1", "http://me:sesame@h.test:١٢", "http://me:sesame@h\0:1",
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_in_a_line_without_credentials(url):
    with pytest.raises(UsageError) as caught:
        Proxy.parse(url)

    assert "\n" not in str(caught.value)
    assert "sesame" not in str(caught.value)


def test_no_text_of_a_proxy_shows_its_login():
    proxy = Proxy.parse("http://me-name:sesame@h.test:1", region="de", name="exit 1")

    for text in (str(proxy), repr(proxy), f"{proxy}", proxy.label, repr([proxy])):
        assert "sesame" not in text
        assert "me-name" not in text
    assert proxy.label == "http://h.test:1"
    assert (proxy.region, proxy.name) == ("de", "exit 1")


def test_playwright_gets_the_credentials():
    proxy = Proxy.parse("http://me:p%40ss@[::1]:8080")

    assert proxy.as_playwright() == {
        "server": "http://[::1]:8080",
        "username": "me",
        "password": "p@ss",
    }
    assert Proxy.parse("socks5://h:1").as_playwright() == {"server": "socks5://h:1"}


def test_the_full_url_reads_back_as_the_same_proxy():
    proxy = Proxy("http", "2001:db8::1", 8080, "m@e", "p:w/%?#")

    assert Proxy.parse(proxy.url) == proxy
