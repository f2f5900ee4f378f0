"""Only a challenge's own marks count as a refusal of robots."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worker.browser.block_detection import challenge_reason
from worker.retry_after import LONGEST_WAIT_SECONDS, retry_after_seconds


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


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        ("Mon, 16 Nov 2026 02:10:00 GMT", 600.0),
        ("Mon, 16 Nov 2026 01:00:00 GMT", 0.0),
        ("9" * 400, LONGEST_WAIT_SECONDS),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(text, seconds):
    now = datetime(2026, 11, 16, 2, 0, tzinfo=UTC)

    assert retry_after_seconds(text, now) == seconds
