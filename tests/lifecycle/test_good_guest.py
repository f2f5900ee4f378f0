"""`--respect-robots`: what a site's robots.txt refuses ends as an error that says so, at once."""

from __future__ import annotations

import pytest

from tests.browser.robots_site import RobotsSite


@pytest.fixture
def site():
    site = RobotsSite()
    yield site
    site.close()


def test_refused_pages_are_errors_without_a_second_attempt(launch, queue, site):
    allowed = [queue.enqueue("visit", {"url": site.url(f"/{n}")}) for n in range(4)]
    refused = [queue.enqueue("visit", {"url": site.url(f"/private/{n}")}) for n in range(4)]

    launcher = launch("--workers", 2, "--json", NIGHTSHIFT_RESPECT_ROBOTS="1")

    assert launcher.wait() == 0
    assert [queue.get(job)["status"] for job in allowed] == ["done"] * 4
    for job in refused:
        row = queue.get(job)
        assert (row["status"], row["attempts"], row["blocks"]) == ("error", 1, 0)
        assert 'refuses it by line 2, "Disallow: /private"' in row["last_error"]
    assert len({queue.get(job)["fingerprint"] for job in refused}) == 1
    # Once for each worker.
    assert 1 <= site.paths.count("/robots.txt") <= 2
    assert not any(path.startswith("/private/") and path[-1].isdigit() for path in site.paths)


def test_without_it_nobody_asks(launch, queue, site):
    job = queue.enqueue("visit", {"url": site.url("/private/1")})

    assert launch("--workers", 1).wait() == 0
    assert queue.get(job)["status"] == "done"
    assert "/robots.txt" not in site.paths
