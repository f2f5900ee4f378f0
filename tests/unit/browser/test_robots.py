"""How long what a site's robots.txt said holds, and what becomes of a site that does not say."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from worker.browser import robots, robots_file
from worker.browser.robots import Robots
from worker.browser.robots_file import RobotsAnswer
from worker.errors import PageRefused, SiteFailed

PAGE = "https://shop.test/private/1"
RULES = RobotsAnswer(200, "User-agent: *\nDisallow: /private")
BUSY = RobotsAnswer(503)


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def answers():
    """What sites answer next; the last one again and again."""
    return [RULES]


@pytest.fixture
def asked():
    return []


@pytest.fixture
def known(clock, answers, asked, monkeypatch):
    @contextmanager
    def page_beside(agent):
        yield agent

    def fetch(page, url):
        asked.append(url)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    monkeypatch.setattr(robots_file, "fetch", fetch)
    known = Robots(clock)
    known.page_beside = page_beside
    return known


@pytest.mark.parametrize(
    ("delay", "limit"),
    [(1, "60"), (7, "8.5"), (60, "1"), (90, "0.66"), (3600, "0.016"), (0.5, "120")],
)
def test_a_delay_that_a_site_asks_for_is_told_with_the_limit_to_set(
    known, answers, caplog, delay, limit
):
    answers[:] = [RobotsAnswer(200, f"User-agent: *\nCrawl-delay: {delay}")]
    with caplog.at_level("INFO"):
        known.check(PAGE)

    (said,) = caplog.messages
    assert f"robots.txt of https://shop.test asks for {delay:g} s between requests" in said
    assert said.endswith(f": launcher.py limits set site:shop.test --per-minute {limit}")


def test_a_site_is_asked_once_in_an_hour(known, clock, asked):
    for url in (PAGE, "https://shop.test/private", "https://SHOP.test:443/private"):
        with pytest.raises(PageRefused, match=r'by line 2, "Disallow: /private"'):
            known.check(url)
    known.check("https://shop.test/open")
    assert asked == ["https://shop.test/robots.txt"]

    clock.now += robots.LIFE_SECONDS
    known.check("https://shop.test/open")
    known.check("https://shop.test:8443/open")
    assert asked[1:] == ["https://shop.test/robots.txt", "https://shop.test:8443/robots.txt"]


@pytest.mark.parametrize(
    "url", ["about:blank", "data:text/html,x", "file:///etc/passwd", "/relative", "http://[", ""]
)
def test_what_is_no_page_of_a_site_is_not_asked_for(known, asked, url):
    known.check(url)

    assert asked == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 304])
def test_a_site_without_rules_allows_everything(known, answers, status):
    answers[:] = [RobotsAnswer(status)]

    known.check(PAGE)


@pytest.mark.parametrize(
    ("answer", "why"),
    [(BUSY, "HTTP 503"), (RobotsAnswer(429), "HTTP 429"), (RobotsAnswer(0), "no answer in time")],
)
def test_a_site_that_cannot_say_is_left_alone_with_backoff(
    known, answers, asked, clock, answer, why
):
    answers[:] = [answer]
    waits = []
    for _ in range(7):
        with pytest.raises(SiteFailed, match=f"robots.txt of https://shop.test .*{why}") as refusal:
            known.check(PAGE)
        waits.append(refusal.value.after)
        clock.now += refusal.value.after - 1
        with pytest.raises(SiteFailed):
            known.check(PAGE)
        clock.now += 1

    assert waits == [60, 120, 240, 480, 960, 1800, 1800]
    assert len(asked) == len(waits)


def test_it_is_asked_again_when_it_says(known, answers):
    answers[:] = [RobotsAnswer(503, retry_after=900.0), RobotsAnswer(503, retry_after=1e9)]

    with pytest.raises(SiteFailed) as refusal:
        known.check(PAGE)
    assert refusal.value.after == 900


def test_what_a_site_said_holds_a_day_while_it_says_nothing(known, answers, clock, asked):
    known.check("https://shop.test/open")
    answers[:] = [BUSY]
    while clock.now < 1000 + robots.LONGEST_LIFE_SECONDS:
        known.check("https://shop.test/open")
        with pytest.raises(PageRefused):
            known.check(PAGE)
        clock.now += 600
    clock.now += robots.LONGEST_WAIT_SECONDS

    with pytest.raises(SiteFailed):
        known.check("https://shop.test/open")
    assert len(asked) < 70


def test_only_so_much_of_all_sites_is_kept(known, answers, asked, monkeypatch):
    monkeypatch.setattr(robots, "MAX_SITES", 3)
    monkeypatch.setattr(robots, "MAX_CHARACTERS", 100)
    answers[:] = [RobotsAnswer(200, "#" * 40)]
    for name in ("a", "b", "c", "a"):
        known.check(f"https://{name}.test/")

    assert asked == [f"https://{name}.test/robots.txt" for name in "abca"]
    assert len(known._sites) == 2
