"""Patterns of what is not loaded: kinds of files, and hosts."""

from __future__ import annotations

import pytest

from worker.block_patterns import KINDS, kinds_of, problem_in, regex_of_hosts, tidied


def is_blocked(url: str, *patterns: str) -> bool:
    found = regex_of_hosts(tidied(patterns))
    return found is not None and found.match(url) is not None


@pytest.mark.parametrize("pattern", [*KINDS, "ads.example", "*.ads.example", "localhost", "[::1]"])
def test_kinds_and_hosts_are_patterns(pattern):
    assert problem_in([pattern, pattern.upper()]) is None


@pytest.mark.parametrize(
    "pattern",
    [
        *("imge", "*", "*.com", "*.png", "**/*.png", "https://ads.example/", "ads.example/x"),
        *("ads.*", "a*.example", "ads", "", " ", "a" * 300 + ".example", "-x.example", "*.1.2.3.4"),
        *("document", "websocket", 5, None, ["image"], "a\n.example"),
    ],
)
def test_anything_else_is_refused_in_one_line(pattern):
    problem = problem_in([pattern])

    assert problem is not None
    assert "\n" not in problem
    assert len(problem) < 300


def test_the_nearest_kind_is_named():
    assert problem_in(["imge"]) == (
        "'imge' is neither a host such as *.ads.example nor a kind of file; did you mean image?"
    )


@pytest.mark.parametrize("patterns", ["image", 5, {"image": 1}, ["image"] * 501])
def test_what_is_no_list_of_some_patterns_is_refused(patterns):
    assert problem_in(patterns) is not None


@pytest.mark.parametrize(
    "url",
    [
        "https://ads.example/x.js",
        "http://ADS.example:8080/",
        "https://a.b.ads.example?x",
        "https://me:pw@ads.example#x",
        "wss://ads.example",
        "https://ads.example./",
    ],
)
def test_a_star_stands_for_the_host_and_everything_under_it(url):
    assert is_blocked(url, "*.ads.example")


@pytest.mark.parametrize(
    "url",
    [
        "https://bads.example/",
        "https://ads.example.org/",
        "https://ads.example@shop.example/",
        "https://shop.example/?u=https://ads.example/",
        "https://shop.example/ads.example/",
        "data:text/html,//ads.example/",
        "https://adsxexample/",
    ],
)
def test_nothing_else_is_taken_for_it(url):
    assert not is_blocked(url, "*.ads.example")


def test_without_a_star_it_is_that_host_alone():
    assert is_blocked("https://ads.example/", "ads.example", "image")
    assert not is_blocked("https://x.ads.example/", "ads.example", "image")


def test_patterns_are_written_alike_and_each_once():
    assert tidied(["Image", " *.ADS.example", "image"]) == ("*.ads.example", "image")
    assert tidied(["*.bücher.example"]) == ("*.xn--bcher-kva.example",)
    assert is_blocked("https://www.xn--bcher-kva.example/", "*.bücher.example")


def test_kinds_are_told_from_hosts():
    assert kinds_of(("image", "*.ads.example")) == {"image"}
    assert regex_of_hosts(("image",)) is None
