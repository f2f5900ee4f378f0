"""The bad part of the site: pages that are slow, broken, silent, blocked or merely strange."""

from __future__ import annotations

import threading
from collections import Counter

from examples.demo_site.exchange import (
    Answer,
    Request,
    Reset,
    Response,
    Silence,
    redirect,
    small_number,
)
from examples.demo_site.markup import escape, layout
from examples.demo_site.shop import PRODUCTS, product_page

MAX_DELAY_MILLISECONDS = 10_000
RETRY_AFTER_SECONDS = 2

_BUSY = "<script>while (true) {}</script>"
_ALERT = '<script>alert("The shop closes in five minutes.");</script>'
# Its requests carry a query so that the statistics tell them from visits of those pages.
_NOISE = """<img src="/odd/no-such-picture.png" alt="A picture that is missing">
<script>
console.warn("Stock figures are two hours old");
console.error("Could not load recommendations");
fetch("/fail/500?for=recommendations")
  .then(answer => console.error("Recommendations answered " + answer.status));
fetch("/fail/reset?for=basket")
  .catch(error => console.error("Basket is unreachable: " + error.message));
setTimeout(() => { throw new Error("basket is undefined"); });
</script>"""
# What links of real pages are like: most are no page of this site.
_LINKS = f"""<a>a name without an address</a> <a href="">here</a>
<a href="mailto:owl@shop.example">mail</a> <a href="tel:+49300">call</a>
<a href="javascript:void 0">menu</a> <a href="http://[">broken</a>
<a href="https://elsewhere.example/products/1">elsewhere</a>
<svg><a href="/products/2"><text>drawn</text></a></svg>
<a href="/products/1#reviews">reviews</a> <a href="/products/1">again</a>
<a href="/products?{"x" * 3_000}">filtered</a>"""
# The mark by which such pages are known, without the third-party script behind it.
_CHALLENGE = """<script>
window._cf_chl_opt = { cType: "managed", path: "/cdn-cgi/challenge-platform/h/b" };
</script>"""


class Trouble:
    """Misbehave as the path asks; the only memory is which flaky paths have failed already."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._visits: Counter[str] = Counter()

    def get(self, request: Request) -> Answer | None:
        """Answer, or refuse to, as the path says; None if the path promises no trouble."""
        match request.parts:
            case ["slow", text] if (delay := small_number(text)) is not None:
                return _slow(delay)
            case ["flaky", _]:
                return self._flaky(request.path)
            case ["fail", "500"]:
                return _page("Internal server error", "The shop fell over a loose cable.", 500)
            case ["fail", "reset"]:
                return Reset()
            case ["hang", "silent"]:
                return Silence()
            case ["hang", "busy"]:
                return _page("Counting the stars", "This may take for ever.", scripts=_BUSY)
            case ["blocked", "challenge"]:
                return _challenge(403, ("cf-mitigated", "challenge"))
            case ["blocked", "rate-limited"]:
                return _challenge(429, ("Retry-After", str(RETRY_AFTER_SECONDS)))
            case ["odd", *rest]:
                return _odd(rest)
        return None

    def _flaky(self, path: str) -> Response:
        with self._lock:
            self._visits[path] += 1
            visit = self._visits[path]
        if visit == 1:
            return _page("Temporarily unavailable", "Out for a coffee. Please try again.", 503)
        return _page("Back again", f"This is visit number {visit}; only the first one failed.")


def _slow(milliseconds: int) -> Response:
    """Show a product, late; the delay is capped so that no visitor can occupy a thread for long."""
    delay = min(milliseconds, MAX_DELAY_MILLISECONDS)
    return product_page(PRODUCTS[delay // 500 % len(PRODUCTS)], delay / 1000)


def _odd(rest: list[str]) -> Response | None:
    match rest:
        case ["alert"]:
            return _page(
                "Closing time", "An alert had to be dismissed to see this.", scripts=_ALERT
            )
        case ["noisy"]:
            return _page("A noisy page", "Fine to look at, less so in the console.", scripts=_NOISE)
        case ["links"]:
            return _page("Links of all kinds", "Few lead to a page of the shop.", scripts=_LINKS)
        case ["unicode"]:
            lines = "日本語の商品ページ · Ночная смена · מוצר · منتج ليلي · रात की पाली · 🦉🌙✨"
            return _page("夜の店 · Ночной магазин · متجر الليل 🦉🌙", lines)
        case ["redirect", text] if (steps := small_number(text)) is not None:
            return redirect(f"/odd/redirect/{steps - 1}" if steps > 1 else "/products/1", 302)
    return None


def _challenge(status: int, header: tuple[str, str]) -> Response:
    text = "Checking that you are human before you go on to the shop."
    return _page("Just a moment…", text, status, _CHALLENGE, header)


def _page(
    title: str, text: str, status: int = 200, scripts: str = "", *headers: tuple[str, str]
) -> Response:
    main = f'<div class="panel"><h1>{escape(title)}</h1><p class="lead">{escape(text)}</p></div>'
    return Response(layout(title, main, scripts=scripts), status, headers)
