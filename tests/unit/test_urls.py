"""URLs that can be opened and URLs that can be called."""

from __future__ import annotations

import pytest

from worker.urls import callback_url_problem, endpoint_problem, host_or_none, job_url_problem


@pytest.mark.parametrize("check", [job_url_problem, callback_url_problem])
@pytest.mark.parametrize("url", ["http://a.test", "https://a.test:8080/b?c=d#e", "HTTP://A.test/"])
def test_web_addresses_are_fine(check, url):
    assert check(url) is None


@pytest.mark.parametrize("check", [job_url_problem, callback_url_problem])
@pytest.mark.parametrize(
    "url", ["", "a.test", "ftp://a.test", "http://", "http:///b", "http://a b"]
)
def test_everything_else_is_told_how_to_be_one(check, url):
    assert "write http://… or https://…" in check(url)


@pytest.mark.parametrize(
    "url",
    ["http://x;id;/p", "http://$(id)/p1", "http://a`id`.test", "http://a&b/", "http://u:p@<b>/"],
)
def test_a_host_with_what_a_shell_obeys_is_none(url):
    assert "cannot be the name of a host" in job_url_problem(url)
    assert "u:p" not in job_url_problem(url)


@pytest.mark.parametrize(
    "url",
    [
        *("http://u:p;$(x)@a.test/", "http://a.test/;id;$(id)", "http://[::1%25eth0]:80/"),
        *("http://ä_b.test", "http://a.test:8080?x=$(y)"),
    ],
)
def test_odd_hosts_and_odd_paths_stay_as_they_are(url):
    assert job_url_problem(url) is None


def test_only_a_host_is_a_site():
    assert host_or_none("shop.example") == "shop.example"
    assert [host_or_none(name) for name in ("x;id;", "$(id)", "a b", "", None)] == [None] * 5


def test_each_has_its_longest():
    assert "longer than 8192" in job_url_problem("http://a.test/" + 8192 * "b")
    assert "longer than 2048" in callback_url_problem("http://a.test/" + 2048 * "b")


@pytest.mark.parametrize("url", ["http://a.test:x/", "http://a.test:0/", "hunter2"])
def test_a_wrong_callback_is_not_repeated(url):
    assert "hunter2" not in callback_url_problem(url)


@pytest.mark.parametrize(
    "value",
    [
        *(
            "ws://a",
            "wss://a:1/b?c=d",
            "http://a",
            "https://a/",
            "cdp+wss://a",
            "playwright+ws://a",
        ),
        *("ws://browser-{slot}:3000", "env:BROWSERS", "file:/run/secrets/browsers"),
        *("broker:endpoint", "tools/broker.py:endpoint"),
    ],
)
def test_endpoints_of_browsers_are_fine(value):
    assert endpoint_problem([value]) is None


@pytest.mark.parametrize(
    "value", ["hunter2", "ftp://hunter2", "ws://", "x+ws://hunter2", "ws://a b"]
)
def test_what_is_no_endpoint_is_not_repeated(value):
    assert "write ws://" in endpoint_problem(["ws://a", value])
    assert "hunter2" not in endpoint_problem([value])
