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
# A challenge is a small page, and what makes it one is near its top.
MAX_HTML = 250_000
MAX_TITLE = 1000

_TITLE = "just a moment"
# The `jsd` script is on ordinary pages of the same sites, error pages included.
_MARKS = re.compile(r"_cf_chl_opt|/cdn-cgi/challenge-platform/(?!scripts/jsd/)")
# Possessive, and never across another "<": a hostile page must not make it look twice.
_META = re.compile(r"<meta[^<>]*+>", re.IGNORECASE)
_POLICY = "content-security-policy"


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
    is_titled_so = title[:MAX_TITLE].strip().lower().startswith(_TITLE)
    if is_titled_so or _MARKS.search(_without_policies(html[:MAX_HTML])):
        return f"Cloudflare challenge (HTTP {status})"
    return None


def _without_policies(html: str) -> str:
    """Leave out the policies in <meta> elements: there a mark is only a permitted source."""
    return _META.sub(lambda tag: "" if _POLICY in tag[0].lower() else tag[0], html)
