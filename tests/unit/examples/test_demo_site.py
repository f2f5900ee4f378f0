"""The demo site keeps its promises over real HTTP: each page ends as its `DemoPage` says."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

import pytest

from examples.demo_site import PAGES, DemoPage, demo_jobs, serve
from examples.demo_site.pages import REFUSING_HOST
from examples.demo_site.portal import ORDERS
from examples.demo_site.shop import PRODUCTS


@dataclass(frozen=True)
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: str


@dataclass
class Visitor:
    """A client with a cookie that follows no redirect."""

    base_url: str
    cookie: str = ""

    def get(self, path: str, timeout: float = 10) -> Reply:
        return self._ask("GET", path, None, timeout)

    def post(self, path: str, **form: str) -> Reply:
        return self._ask("POST", path, urlencode(form), 10)

    def log_in(self) -> None:
        self.cookie = self.post("/login", username="demo", password="demo").headers["Set-Cookie"]

    def stats(self) -> dict[str, dict[str, int]]:
        counts: dict[str, dict[str, int]] = json.loads(self.get("/__stats").body)
        return counts

    def _ask(self, method: str, path: str, body: str | None, timeout: float) -> Reply:
        address = urlsplit(self.base_url).netloc
        headers = {"Cookie": self.cookie.partition(";")[0]} if self.cookie else {}
        with contextlib.closing(http.client.HTTPConnection(address, timeout=timeout)) as link:
            link.request(method, path, body, headers)
            answer = link.getresponse()
            return Reply(answer.status, answer.headers, answer.read().decode())


@pytest.fixture
def visitor() -> Iterator[Visitor]:
    with serve() as base_url:
        yield Visitor(base_url)


def paths(kind: str, expect: str) -> list[str]:
    return [page.path for page in PAGES if (page.kind, page.expect) == (kind, expect)]


def test_the_demo_queue_has_a_payload_of_one_url_for_each_page() -> None:
    jobs = demo_jobs("http://127.0.0.1:8123")
    assert len(jobs) == len(PAGES) == 44
    assert {"url": "http://127.0.0.1:8123/products/28"} in jobs
    assert len({job["url"] for job in jobs}) == len(jobs)
    assert all(set(job) == {"url"} for job in jobs)


def test_the_hanging_pages_are_queued_early_so_that_the_rest_is_done_meanwhile() -> None:
    assert all(page.kind != "hanging" for page in PAGES[len(PAGES) // 4 :])


def test_every_product_shows_its_title_price_stock_and_picture(visitor: Visitor) -> None:
    assert len(PRODUCTS) == 28
    for product in PRODUCTS:
        reply = visitor.get(f"/products/{product.id}")
        assert reply.status == 200
        assert f'itemprop="price">{product.price}<' in reply.body
        assert "<svg" in reply.body
        assert ("in stock" if product.stock else "Sold out") in reply.body


def test_the_catalogue_leads_to_every_product_by_its_next_links(visitor: Visitor) -> None:
    found: list[str] = []
    path = "/products"
    while path:
        body = visitor.get(path).body
        found += [piece.partition('"')[0] for piece in body.split('class="card" href="')[1:]]
        path = body.partition('rel="next" href="')[2].partition('"')[0]
    assert found == [f"/products/{product.id}" for product in PRODUCTS]


@pytest.mark.parametrize("page", ["0", "5", "-1", "x", "9" * 5000, "\u0661"])
def test_a_catalogue_page_that_does_not_exist_is_not_found(visitor: Visitor, page: str) -> None:
    assert visitor.get("/products?" + urlencode({"page": page})).status == 404


def test_text_that_looks_like_html_is_escaped(visitor: Visitor) -> None:
    visitor.log_in()
    assert "<title>Lamp &lt;Zero&gt; · The Night Shop</title>" in visitor.get("/products/15").body
    assert "&lt;b&gt;Bold&lt;/b&gt; &amp; Sons" in visitor.get("/orders").body
    refused = visitor.post("/login", username='"><script>x</script>', password="no")
    assert "<script>" not in refused.body
    assert "&quot;&gt;&lt;script&gt;x" in refused.body
    assert "<script>" not in visitor.get("/%3Cscript%3E").body


@pytest.mark.parametrize("path", paths("slow", "done"))
def test_a_slow_page_takes_its_time_and_then_succeeds(visitor: Visitor, path: str) -> None:
    started = time.monotonic()
    assert visitor.get(path).status == 200
    assert time.monotonic() - started >= int(path.rpartition("/")[2]) / 1000


def test_a_flaky_page_fails_once_for_each_path_and_server(visitor: Visitor) -> None:
    first, second, third = (visitor.get("/flaky/first-try").status for _ in range(3))
    assert (first, second, third) == (503, 200, 200)
    assert visitor.get("/flaky/another").status == 503
    with serve() as fresh:
        assert Visitor(fresh).get("/flaky/first-try").status == 503


def test_failing_pages_fail_every_time(visitor: Visitor) -> None:
    assert [visitor.get("/fail/500").status for _ in range(2)] == [500, 500]
    assert [visitor.get("/products/999").status for _ in range(2)] == [404, 404]
    for _ in range(2):
        with pytest.raises(ConnectionResetError) as caught:
            visitor.get("/fail/reset")
        # A subclass of it stands for a polite end without an answer, which is another trouble.
        assert caught.type is ConnectionResetError


def test_the_troubled_address_refuses(visitor: Visitor) -> None:
    hosts = {page.host: page for page in PAGES if page.host}
    assert set(hosts) == {REFUSING_HOST}
    refusing = Visitor(hosts[REFUSING_HOST].url(visitor.base_url).rstrip("/"))
    with pytest.raises(ConnectionRefusedError):
        refusing.get("/")


def test_a_silent_page_sends_not_even_headers(visitor: Visitor) -> None:
    with pytest.raises(TimeoutError):
        visitor.get("/hang/silent", timeout=0.5)
    assert visitor.get("/products/1").status == 200


def test_a_busy_page_carries_a_script_that_never_ends(visitor: Visitor) -> None:
    assert "<script>while (true) {}</script>" in visitor.get("/hang/busy").body


def test_blocked_pages_bear_the_marks_of_a_challenge(visitor: Visitor) -> None:
    challenge = visitor.get("/blocked/challenge")
    assert (challenge.status, challenge.headers["cf-mitigated"]) == (403, "challenge")
    limited = visitor.get("/blocked/rate-limited")
    assert (limited.status, limited.headers["Retry-After"]) == (429, "2")
    assert "_cf_chl_opt" in limited.body
    assert "/cdn-cgi/challenge-platform/" in limited.body
    for reply in (challenge, limited):
        assert "<title>Just a moment…</title>" in reply.body


def test_odd_pages_are_odd_and_yet_succeed(visitor: Visitor) -> None:
    assert "alert(" in visitor.get("/odd/alert").body
    noisy = visitor.get("/odd/noisy").body
    assert all(mark in noisy for mark in ("console.error", "throw new Error", "no-such-picture"))
    assert visitor.get("/odd/no-such-picture.png").status == 404
    assert (
        "<title>夜の店 · Ночной магазин · متجر الليل 🦉🌙</title>"
        in visitor.get("/odd/unicode").body
    )


def test_the_redirect_chain_ends_at_a_product(visitor: Visitor) -> None:
    path, hops = "/odd/redirect/3", 0
    while (reply := visitor.get(path)).status == 302:
        path, hops = reply.headers["Location"], hops + 1
    assert (path, hops, reply.status) == ("/products/1", 3, 200)


def test_orders_are_shown_only_after_log_in_and_until_log_out(visitor: Visitor) -> None:
    turned_away = visitor.get("/orders")
    assert (turned_away.status, turned_away.headers["Location"]) == (303, "/login")
    assert visitor.post("/login", username="demo", password="wrong").status == 401
    visitor.log_in()
    body = visitor.get("/orders").body
    assert all(f'href="/orders/{number}"' in body for number in ORDERS)
    assert visitor.get("/logout").status == 303
    assert visitor.get("/orders").status == 303, "the session outlived its log-out"


def test_an_order_is_processed_once_and_a_second_time_is_told(visitor: Visitor) -> None:
    visitor.post("/orders/1003/process")
    visitor.log_in()
    assert "Mark as processed" in visitor.get("/orders/1003").body, "processed without log-in"

    assert visitor.post("/orders/1003/process").headers["Location"] == "/orders/1003"
    after = visitor.get("/orders/1003").body
    assert 'badge processed">processed' in after
    assert "Mark as processed" not in after
    assert "11 open, 1 processed" in visitor.get("/orders").body

    assert visitor.post("/orders/1003/process").status == 409
    assert "11 open, 1 processed" in visitor.get("/orders").body
    assert visitor.stats()["posts"]["/orders/1003/process"] == 3


def test_an_order_pressed_by_many_at_once_is_processed_by_one(visitor: Visitor) -> None:
    visitor.log_in()
    statuses: list[int] = []

    def press() -> None:
        statuses.append(visitor.post("/orders/1001/process").status)

    threads = [threading.Thread(target=press) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert sorted(statuses) == [303] + [409] * 7


@pytest.mark.parametrize("path", ["/", "/products/1", "/orders/9999/process", "/orders/x/process"])
def test_a_form_sent_where_none_is_taken_is_refused(visitor: Visitor, path: str) -> None:
    assert visitor.post(path).status == 405


def test_a_form_larger_than_any_of_ours_is_refused(visitor: Visitor) -> None:
    with socket.create_connection(
        ("127.0.0.1", urlsplit(visitor.base_url).port), timeout=10
    ) as link:
        link.sendall(b"POST /login HTTP/1.0\r\nContent-Length: 99999\r\n\r\n")
        assert link.recv(100).split()[1] == b"413"


def test_the_status_page_changes_between_visits(visitor: Visitor) -> None:
    bodies = [visitor.get("/status").body for _ in range(4)]
    assert all(body.count("data-service=") == 3 for body in bodies)
    assert [body.count('data-state="operational"') for body in bodies] == [3, 2, 1, 2]


def test_the_statistics_count_every_visit_but_their_own(visitor: Visitor) -> None:
    for path in ("/products/1", "/products/1", "/products?page=2", "/nowhere"):
        visitor.get(path)
    with pytest.raises(ConnectionResetError):
        visitor.get("/fail/reset")
    visitor.stats()
    assert visitor.stats() == {
        "hits": {"/products/1": 2, "/products?page=2": 1, "/nowhere": 1, "/fail/reset": 1},
        "posts": {},
    }


def test_the_index_links_to_every_page_of_the_demo(visitor: Visitor) -> None:
    body = visitor.get("/").body

    def link(page: DemoPage) -> str:
        return f'href="{page.url(visitor.base_url) if page.host else page.path}"'

    assert [page for page in PAGES if link(page) not in body] == []
    assert "Disallow: /orders" in visitor.get("/robots.txt").body


def test_a_stopped_server_ends_its_silences_and_frees_its_port() -> None:
    threads_before = set(threading.enumerate())
    with serve() as base_url:
        address = ("127.0.0.1", urlsplit(base_url).port)
        link = socket.create_connection(address, timeout=10)
        link.sendall(b"GET /hang/silent HTTP/1.0\r\n\r\n")
        wait_until(lambda: "/hang/silent" in Visitor(base_url).stats()["hits"])
    with link:
        assert link.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=10)
    wait_until(lambda: threads_before.issuperset(threading.enumerate()))


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.02)
