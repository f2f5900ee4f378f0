"""What changed between the last good page of a task and site and the one that failed.

Told by the HTML of both alone, so that both are read by the same rule. The caller limits the time.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from worker.browser.selector_counts import InertReader, Matches
from worker.browser.session import BrowserSession
from worker.evidence import failed_selector
from worker.evidence.nearest_selector import nearest


def compare(
    session: BrowserSession, message: str, then: str | None, now: str
) -> dict[str, Any] | None:
    """Say how often the selector of a failure's message matched then and now; None without one.

    Raises Playwright's Error when the browser does not answer.
    """
    selector = failed_selector.find(message)
    browser = session.page.context.browser if session.page is not None else None
    if selector is None or browser is None:
        return None
    with closing(InertReader(browser)) as reader:
        before = reader.look(then, selector) if then is not None else Matches(None)
        after = reader.look(now, selector)
        told: dict[str, Any] = {
            "selector": selector.text,
            "then": before.count,
            "now": after.count,
        }
        if selector.kind == "css" and after.count == 0 and before.count:
            name = nearest(selector.text, after.names, before.names)
            if name is not None:
                told["nearest"] = name
                told["nearest_count"] = after.names[name]
                told["nearest_text"] = reader.text_of(now, name)
    return told
