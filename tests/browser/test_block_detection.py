"""A challenge is recognised on a real page; an ordinary refusal is not mistaken for one."""

from __future__ import annotations

import pytest

from worker.browser.block_detection import detect


@pytest.mark.parametrize(
    ("path", "after"), [("/challenge", 120.0), ("/mitigated", None)], ids=["marks", "header"]
)
def test_a_challenge_blocks(session, site, path, after):
    page = session.page_for_job()
    page.goto(site.url(path))

    blocked = detect(session.recorder, page)

    assert blocked is not None
    assert "challenge" in blocked.reason
    assert blocked.after == after


@pytest.mark.parametrize("path", ["/", "/forbidden", "/policy", "/frame"])
def test_an_ordinary_page_does_not(session, site, path):
    page = session.page_for_job()
    page.goto(site.url(path))

    assert detect(session.recorder, page) is None
