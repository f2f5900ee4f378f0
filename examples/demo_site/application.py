"""The whole site as one function from a request to an answer, with a count of every visit.

The count is kept here, outside any queue: it is what tests compare a queue's story with.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections import Counter

from examples.demo_site import shop
from examples.demo_site.exchange import Answer, Request, Response
from examples.demo_site.markup import badge, escape, layout
from examples.demo_site.pages import PAGES, DemoPage
from examples.demo_site.portal import Portal
from examples.demo_site.trouble import Trouble

STATS_PATH = "/__stats"
_ROBOTS = "User-agent: *\nDisallow: /orders\nDisallow: /__stats\n"


class Application:
    """One server's site and state; `answer` may be called by any thread."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._portal = Portal()
        self._trouble = Trouble()
        self._status_visits = itertools.count()
        self._lock = threading.Lock()
        self._hits: Counter[str] = Counter()
        self._posts: Counter[str] = Counter()

    def count(self, method: str, target: str) -> None:
        """Note a visit to `target`, query included; looking at the statistics is not a visit."""
        if target == STATS_PATH:
            return
        with self._lock:
            self._hits[target] += 1
            if method == "POST":
                self._posts[target] += 1

    def answer(self, request: Request) -> Answer:
        """Find the part of the site that knows the path and let it answer."""
        if request.method == "POST":
            return self._portal.post(request) or _message(405, "Nothing here takes a form.")
        return (
            self._own_page(request)
            or shop.get(request)
            or self._portal.get(request)
            or self._trouble.get(request)
            or _message(404, "There is nothing at this address.")
        )

    def _own_page(self, request: Request) -> Response | None:
        match request.path:
            case "/":
                return _index(self._base_url)
            case "/status":
                return shop.status_page(next(self._status_visits))
            case "/robots.txt":
                return Response(_ROBOTS, content_type="text/plain; charset=utf-8")
            case "/__stats":
                return self._stats()
        return None

    def _stats(self) -> Response:
        with self._lock:
            counts = {"hits": dict(self._hits), "posts": dict(self._posts)}
        return Response(json.dumps(counts, sort_keys=True), content_type="application/json")


def _message(status: int, text: str) -> Response:
    title = {404: "Not found", 405: "Method not allowed"}[status]
    main = (
        f'<div class="panel"><h1>{title}</h1><p class="lead">{escape(text)}</p>'
        '<p><a href="/">Back to the start</a></p></div>'
    )
    headers = (("Allow", "GET, HEAD"),) if status == 405 else ()
    return Response(layout(f"{title} · The Night Shop", main), status, headers)


def _index(base_url: str) -> Response:
    doors = (
        ("/products", "Catalogue", "all products, page by page"),
        ("/login", "Staff portal", "log in as demo / demo and process orders"),
        ("/status", "Service status", "changes with every visit"),
        (STATS_PATH, "Statistics", "visits per path, as JSON"),
        ("/robots.txt", "robots.txt", "what robots should leave alone"),
    )
    links = "\n".join(
        f'<tr><td><a href="{path}">{name}</a></td><td>{about}</td></tr>'
        for path, name, about in doors
    )
    special = "\n".join(_row(page, base_url) for page in PAGES if page.kind != "good")
    good = "\n".join(_row(page, base_url) for page in PAGES if page.kind == "good")
    main = f"""<h1>The Night Shop</h1>
<p class="lead">A shop for practising on: {len(PAGES)} pages that work, dawdle, fail, hang or turn
robots away, each always in the same manner.</p>
<h2 style="margin-top:0">Ways in</h2>
<div class="panel"><table>{links}</table></div>
<h2>Pages with trouble</h2>
<div class="panel"><table>{special}</table></div>
<h2>Pages without</h2>
<div class="panel"><table>{good}</table></div>"""
    return Response(layout("The Night Shop", main))


def _row(page: DemoPage, base_url: str) -> str:
    url = page.url(base_url) if page.host else page.path
    return (
        f'<tr><td><a href="{escape(url)}">{escape(url)}</a></td><td>{escape(page.about)}</td>'
        f"<td>{badge(page.kind)}</td></tr>"
    )
