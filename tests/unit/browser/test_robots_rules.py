"""What a robots.txt says to our user agent, and by which of its lines."""

from __future__ import annotations

import time

import pytest

from worker.browser.robots_rules import MAX_BYTES, RobotsRules

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0.0.0 Safari/537.36"
ACME = "AcmeBot/1.2 (+https://acme.example/bot)"
TEXT = """\ufeff# Welcome
User-agent: GoogleBot
User-agent: BingBot
Disallow: /google

User-agent: acmebot
Disallow: /
Allow: /welcome$

User-agent: *
Disallow: /private
Disallow: /private/deep  # no
Allow: /private/open
Disallow: /*.pdf$
Crawl-delay: 2.5
"""


@pytest.mark.parametrize(
    ("agent", "path", "refusal"),
    [
        (CHROME, "/", None),
        (CHROME, "/google", None),
        (CHROME, "/private/1?a=b", 'by line 11, "Disallow: /private"'),
        (CHROME, "/private/deep/1", 'by line 12, "Disallow: /private/deep"'),
        (CHROME, "/private/open/1", None),
        (CHROME, "/a.pdf", 'by line 14, "Disallow: /*.pdf$"'),
        (CHROME, "/a.pdf?x", None),
        (ACME, "/private/open", 'by line 7, "Disallow: /"'),
        (ACME, "/welcome", None),
        ("Mozilla/5.0 (compatible; bingbot/2.0)", "/google/1", 'by line 4, "Disallow: /google"'),
        ("NotAcmeBot/1.0", "/other", None),
    ],
)
def test_the_longest_rule_of_our_own_group_counts_and_is_named(agent, path, refusal):
    rules, url = RobotsRules(TEXT, agent), f"https://shop.test{path}"

    assert rules.allows(url) is (refusal is None)
    if refusal is not None:
        assert rules.why_not(url) == refusal


def test_a_crawl_delay_is_read():
    assert RobotsRules(TEXT, CHROME).crawl_delay == 2.5
    assert RobotsRules(TEXT, ACME).crawl_delay is None


@pytest.mark.parametrize(
    "text", ["", "<html><h1>Not found</h1></html>", "\x00\ufffd", "Disallow: /"]
)
def test_what_is_no_robots_txt_allows_everything(text):
    assert RobotsRules(text, CHROME).allows("https://shop.test/")


def hostile():
    names = "".join(f"User-agent: {CHROME[:n]}\n" for n in range(1, 90)) * 20
    strangers = "".join(f"User-agent: robot-{n}\n" for n in range(9000))
    rules = "".join(f"Disallow: /{n}\n" for n in range(15_000))
    yield names + strangers + rules
    yield "User-agent: *\nDisallow: /" + "*a" * 250_000
    yield "User-agent: *\n" + "Disallow: /*a*b*c*d$\n" * 24_000
    yield "User-agent: *\n" + "Disallow: /x#" * 40_000
    yield "user - - - - " * 40_000 + "\n" + " " * 100_000


@pytest.mark.parametrize("text", [*hostile()], ids=range(5))
def test_a_hostile_file_costs_seconds_at_worst(text):
    began = time.monotonic()
    rules = RobotsRules(text[:MAX_BYTES], CHROME)
    url = "https://shop.test/" + "abc" * 2000
    rules.allows(url)
    rules.why_not(url)

    assert time.monotonic() - began < 20
