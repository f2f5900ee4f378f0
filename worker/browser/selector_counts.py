"""How many elements a selector matches in a page's HTML, and which names there are in it.

The HTML is read by the browser's own parser into a document that runs nothing and fetches nothing,
in a blank page of its own without a network. What takes too long is ended by the caller's limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser

from worker.evidence.failed_selector import FailedSelector
from worker.evidence.nearest_selector import MAX_NAME, MAX_NAMES

MAX_ELEMENTS = 50_000
MAX_TEXT = 80
TIMEOUT_MS = 4000
# What authors give elements to be found by, beside class and id.
_NAMING = ("data-testid", "data-test", "data-qa", "itemprop", "name", "aria-label")

_COUNT = """([html, kind, selector, naming, most]) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    let count = null;
    try {
        count = kind === "css" ? page.querySelectorAll(selector).length
            : page.evaluate(selector, page, null, 7, null).snapshotLength;
    } catch { }
    const names = new Map();
    const note = (name, bare) => {
        if (bare && bare.length <= most.name && (names.has(name) || names.size < most.names))
            names.set(name, (names.get(name) || 0) + 1);
    };
    let left = most.elements;
    for (const each of page.getElementsByTagName("*")) {
        if (!left--) break;
        if (each.id) note("#" + each.id, each.id);
        for (const one of each.classList) note("." + one, one);
        for (const one of naming)
            if (each.hasAttribute(one)) note(`[${one}="${each.getAttribute(one)}"]`,
                each.getAttribute(one));
    }
    return {count, names: [...names]};
}"""
_TEXT_OF = """([html, name, longest]) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    try {
        const text = page.querySelector(name)?.textContent ?? "";
        return text.slice(0, 2000).trim().replace(/\\s+/g, " ").slice(0, longest);
    } catch {
        return "";
    }
}"""


@dataclass(frozen=True, slots=True)
class Matches:
    """What a page's HTML holds; `count` is None for a selector that the browser does not know."""

    count: int | None
    names: dict[str, int] = field(default_factory=dict)


class InertReader:
    """A blank page that reads HTML; `close` it."""

    def __init__(self, browser: Browser) -> None:
        self._context = browser.new_context(offline=True)
        self._context.set_default_timeout(TIMEOUT_MS)
        self._page = self._context.new_page()

    def look(self, html: str, selector: FailedSelector) -> Matches:
        """Count what a selector matches in this HTML, and list its classes, ids and the like."""
        most = {"name": MAX_NAME, "names": MAX_NAMES, "elements": MAX_ELEMENTS}
        told: Any = self._page.evaluate(
            _COUNT, [html, selector.kind, selector.text, list(_NAMING), most]
        )
        return Matches(told["count"], {str(name): int(count) for name, count in told["names"]})

    def text_of(self, html: str, name: str) -> str:
        """Read the beginning of the text of the first element that a name leads to."""
        told: Any = self._page.evaluate(_TEXT_OF, [html, name, MAX_TEXT])
        return str(told)

    def close(self) -> None:
        """Give the blank page back."""
        self._context.close()
