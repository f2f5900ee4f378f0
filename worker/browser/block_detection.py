"""Recognise a site's refusal of robots by the marks of a challenge, and nothing less.

Only the main document's answer counts, and of its headers only the ones that say so: a
content policy that merely names a protection service is no refusal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from playwright.sync_api import Page

from worker.browser.recorder import Recorder
from worker.errors import Blocked
from worker.retry_after import retry_after_seconds

REFUSALS = frozenset({403, 429, 503})
MAX_HTML = 1_000_000

_TITLE = "just a moment"
# The `jsd` script is on ordinary pages of the same sites, error pages included.
_MARKS = re.compile(r"_cf_chl_opt|/cdn-cgi/challenge-platform/(?!scripts/jsd/)")
_POLICIES = re.compile(r"<meta[^>]+content-security-policy[^>]*>", re.IGNORECASE)


def detect(recorder: Recorder, page: Page) -> Blocked | None:
    """Tell whether the site has refused the job's page, with Retry-After as `after`.

    Asks the page only after a 403, 429 or 503; that may hang, so the caller sets the limit.
    """
    answer = recorder.main_response
    if answer is None:
        return None
    reason = challenge_reason(answer.status, answer.headers)
    if reason is None and answer.status in REFUSALS:
        html = page.content()
        reason = challenge_reason(answer.status, answer.headers, page.title(), html)
    if reason is None:
        return None
    return Blocked(reason, after=retry_after_seconds(answer.headers.get("retry-after", "")))


def challenge_reason(
    status: int, headers: Mapping[str, str], title: str = "", html: str = ""
) -> str | None:
    """Name the challenge that an answer is, or None; header names are in lower case."""
    if headers.get("cf-mitigated", "").strip().lower() == "challenge":
        return f"Cloudflare challenge (HTTP {status})"
    if status not in REFUSALS:
        return None
    # The policy may also stand in a <meta> element; there the mark is a permitted source.
    text = _POLICIES.sub("", html[:MAX_HTML])
    if title.strip().lower().startswith(_TITLE) or _MARKS.search(text):
        return f"Cloudflare challenge (HTTP {status})"
    return None
