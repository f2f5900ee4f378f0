"""Only a challenge's own marks count as a refusal of robots."""

from __future__ import annotations

import pytest

from worker.browser.block_detection import challenge_reason


@pytest.mark.parametrize(
    ("status", "headers", "title", "html"),
    [
        (200, {"cf-mitigated": "challenge"}, "", ""),
        (403, {}, "Just a moment...", ""),
        (503, {}, "", "<script>window._cf_chl_opt={}</script>"),
        (429, {}, "", "<script src='/cdn-cgi/challenge-platform/h/g/orchestrate'></script>"),
    ],
)
def test_a_challenge_is_recognised(status, headers, title, html):
    assert "challenge" in challenge_reason(status, headers, title, html)


@pytest.mark.parametrize(
    ("status", "headers", "title", "html"),
    [
        (200, {}, "Just a moment", "_cf_chl_opt"),
        (403, {}, "Forbidden", "<h1>You shall not pass</h1>"),
        (403, {"content-security-policy": "script-src /cdn-cgi/challenge-platform/"}, "", ""),
        (403, {}, "", '<meta http-equiv="Content-Security-Policy"'
                      ' content="script-src /cdn-cgi/challenge-platform/">'),
        (403, {}, "", "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"),
        (500, {"cf-mitigated": ""}, "", "_cf_chl_opt"),
        (404, {"cf-ray": "1"}, "", "cloudflare"),
    ],
)  # fmt: skip
def test_an_ordinary_answer_is_not(status, headers, title, html):
    assert challenge_reason(status, headers, title, html) is None
